// Starts the dashboard: it starts the router and renders the application.

import { render } from 'preact'
import { App } from './app.tsx'
import { startRouter } from './router.ts'
import './style.css'

startRouter()
render(<App />, document.getElementById('app') as HTMLElement)
