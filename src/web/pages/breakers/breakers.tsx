// Breakers: which targets are left alone, why, and until when.
import type { Breaker } from 'openapi'
import { api } from '../../api/client'
import { useResource } from '../../api/resource'
import { may } from '../../api/session'
import { count, number, percent } from '../../base/format'
import { confirm } from '../../parts/ask/confirm'
import { Empty } from '../../parts/show/empty'
import { Id } from '../../parts/show/id'
import { OldData } from '../../parts/show/problem'
import { Status } from '../../parts/show/status'
import { Time } from '../../parts/show/time'
import { act } from '../common/act'
import { sentence } from './sentence'
import './breakers.css'

const EVERY_MS = 2000

async function reset(breaker: Breaker): Promise<void> {
    const waiting = breaker.waiting === 0 ? 'Nothing waits for it at the moment.'
        : `${count(breaker.waiting, 'execution')} that wait for it may start at once.`
    if (await confirm({
        title: `Reset the breaker of ${breaker.target}?`, action: 'Reset 1 breaker',
        text: `${waiting} If it still fails, it opens again after some calls.`,
    }))
        await act(() => api.post('/breakers/reset', { target: breaker.target }),
            { said: `The breaker of ${breaker.target} is closed.`, touches: ['/breakers', '/stats/blockers'] })
}

export default function Breakers() {
    const { data, problem, at, reload } = useResource<{ breakers: Breaker[] }>('/breakers', {}, { every: EVERY_MS })
    const breakers = data?.breakers
    return (
        <div class="stack">
            <h1 tabIndex={-1}>Breakers <span class="soft number">{breakers && number(breakers.length)}</span></h1>
            {breakers && breakers.length > 0 && <p>{sentence(breakers)}</p>}
            <OldData problem={problem} at={at} retry={() => void reload()} />
            {breakers && breakers.length > 0 && <ul class={`breakers${problem ? ' is-old' : ''}`} aria-label="Breakers">
                {breakers.map(breaker => <One key={breaker.target} breaker={breaker} />)}
            </ul>}
            {breakers?.length === 0 && <Empty title="Nothing was called lately."
                command="belfry submit --name mail --breaker smtp --retries 5 -- sh -c 'exit 1'">
                Jobs of a handler, and jobs that name a breaker, are counted by what they call. When half of at least
                five calls within a minute fail, work for that target waits and costs no attempts. Targets appear here
                when they were called.
            </Empty>}
        </div>
    )
}

function One({ breaker }: { breaker: Breaker }) {
    return (
        <li class="breaker panel">
            <div class="row spread">
                <span class="row"><strong class="mono">{breaker.target}</strong> <Status state={breaker.state} /></span>
                {breaker.state !== 'closed' && may('POST', '/breakers/reset') && <button class="button" type="button"
                    aria-label={`Reset ${breaker.target}`} onClick={() => void reset(breaker)}>Reset …</button>}
            </div>
            <p><Why breaker={breaker} /></p>
            {breaker.waiting > 0 && <p>
                <a href="/executions?status=queued">{count(breaker.waiting, 'execution')} {
                    breaker.waiting === 1 ? 'waits' : 'wait'} for it</a></p>}
        </li>
    )
}

function Why({ breaker: { calls, failures, state, opened_at, probe_at, probe } }: { breaker: Breaker }) {
    const said = calls === 0 ? 'No calls within the last minute.'
        : `${number(failures)} of ${count(calls, 'call')} that ended within a minute failed (${
            percent(failures / calls)}).`
    if (state === 'closed')
        return <>{said}</>
    if (state === 'open')
        return <>{said} Opened <Time at={opened_at} />; one execution is tried <Time at={probe_at} none="soon" />.</>
    return <>{said} Opened <Time at={opened_at} />. {probe
        ? <><Id id={probe} href={`/executions/${probe}`} /> is tried now{probe_at && <>, another one <Time
            at={probe_at} /></>}: the first that succeeds closes it.</>
        : 'The next execution is tried.'}</>
}
