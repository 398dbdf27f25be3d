// Dead letters that failed alike: how many, by what, since when, one example, and what to do with all of them.
import { useState } from 'preact/hooks'
import type { DeadLetterGroups } from 'openapi'
import { number } from '../../base/format'
import { setQuery } from '../../base/router'
import { Id } from '../../parts/show/id'
import { Time } from '../../parts/show/time'
import type { Deed } from '../common/bulk'
import { Example } from './example'

export type Group = DeadLetterGroups['fingerprints'][number]

const SHOWN = 10 // until more are asked for

interface Props {
    groups: Group[]
    /** One of them was: its example is shown. */
    chosen: boolean
    deeds: Deed[]
    isOld: boolean
    act: (deed: Deed, group: Group) => void
}

export function Groups({ groups, chosen, deeds, isOld, act }: Props) {
    const [all, showAll] = useState(false)
    const shown = all ? groups : groups.slice(0, SHOWN)
    return (
        <section class={`letters-groups${isOld ? ' is-old' : ''}`} aria-label="What failed alike">
            {shown.map(group => <One key={group.fingerprint ?? group.error_class ?? ''}
                {...{ group, chosen, deeds, act }} />)}
            {groups.length > shown.length && <button class="button plain" type="button" onClick={() => showAll(true)}>
                {number(groups.length - shown.length)} more that failed otherwise</button>}
        </section>
    )
}

function One({ group, chosen, deeds, act }: { group: Group } & Pick<Props, 'chosen' | 'deeds' | 'act'>) {
    const { fingerprint } = group
    const what = group.fingerprint_text ?? 'It left no line that says why.'
    return (
        <article class="letters-group">
            <span class="letters-count number">{number(group.count)}<span>{group.error_class?.replace(/_/g, ' ') ??
                'no class'}</span></span>
            <div>
                {fingerprint && !chosen
                    ? <a class="letters-what mono" href={`/dead-letters?fingerprint=${fingerprint}`} title={what}
                        onClick={event => {
                            event.preventDefault()
                            setQuery({ fingerprint })
                        }}>{what}</a>
                    : <span class="letters-what mono" title={what}>{what}</span>}
                <span class="soft small">newest <Time at={group.newest_at} />
                    {group.count > 1 && <>, oldest <Time at={group.oldest_at} /></>}, for
                    example <Id id={group.newest_execution_id} href={`/dead-letters/${group.newest_execution_id}`} />
                </span>
            </div>
            {/* Letters without a fingerprint have nothing in common that a filter could name. */}
            {fingerprint ? <span class="row">
                {deeds.map(deed => <button key={deed.verb} class={`button${deed.danger ? ' danger' : ''}`} type="button"
                    aria-label={`${deed.verb} ${group.count}: ${what.slice(0, 80)}`} onClick={() => act(deed, group)}>
                    {deed.verb} {number(group.count)} …</button>)}
            </span> : <span />}
            {chosen && <Example id={group.newest_execution_id} />}
        </article>
    )
}
