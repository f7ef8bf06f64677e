// Starts the dashboard: takes up the session that a reload has left and shows the page of the address.

import { render } from 'preact'
import { App } from './app.tsx'
import { startRouter } from './router.ts'
import './style.css'

startRouter()
render(<App />, document.getElementById('app') as HTMLElement)
