// Where it begins.
import '../style/variables.css'
import '../style/base.css'
import { render } from 'preact'
import { takeCode } from '../api/session'
import { startChoices } from '../base/choices'
import { Shell } from './shell'
import { readAddress, startRouter } from '../base/router'

takeCode()
addEventListener('hashchange', () => { // a link put into a tab that is open
    takeCode()
    readAddress()
})
startChoices()
startRouter()
render(<Shell />, document.getElementById('app')!)
