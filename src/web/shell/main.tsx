// Where it begins.
import '../style/variables.css'
import '../style/base.css'
import { render } from 'preact'
import { startChoices } from '../base/choices'
import { Shell } from './shell'
import { startRouter } from '../base/router'

startChoices()
startRouter()
render(<Shell />, document.getElementById('app')!)
