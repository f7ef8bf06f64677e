// Starts the router and renders the application.

import { options, render } from 'preact'
import { App } from './app.tsx'
import { startRouter } from './router.ts'
import './style.css'

// Effects run directly after the render that caused them, before the browser handles the next event. By default, Preact
// runs them after the next frame. Until then, the menu would stay open on the next page, a page with unsaved input
// could be left without a question, and the shell would send queries with the identity of the previous choice.
options.requestAnimationFrame = queueMicrotask

startRouter()
render(<App />, document.getElementById('app') as HTMLElement)
