// The columns of the list of dead letters.
import type { DeadLetter } from 'openapi'
import { shortId } from '../../base/format'
import { part } from '../../base/query'
import type { Column } from '../../parts/list/table'
import { Status } from '../../parts/show/status'
import { Time } from '../../parts/show/time'
import { reasons } from '../letter/reasons'

export const columns: Column<DeadLetter>[] = [
    {
        key: 'name', name: 'Job', width: '22%', card: 'title',
        cell: letter => <a href={`/dead-letters/${letter.execution_id}`} tabIndex={-1}>
            {letter.name ?? shortId(letter.execution_id)}</a>,
    },
    { key: 'status', name: 'State', width: '96px', card: 'state', cell: letter => <Status state={letter.status} /> },
    {
        key: 'error', name: 'Error', card: 'note',
        cell: letter => <span title={letter.fingerprint_text ?? ''}>{letter.fingerprint_text ?? letter.error}</span>,
    },
    { key: 'reason', name: 'Why for good', width: '140px',
        cell: letter => <span title={reasons[letter.reason].why}>{reasons[letter.reason].word}</span> },
    { key: 'queue', name: 'Queue', width: '110px',
        cell: letter => <a href={`/queues/${part(letter.queue)}`} tabIndex={-1}>{letter.queue}</a> },
    { key: 'died', name: 'Died', width: '130px', card: 'time', cell: letter => <Time at={letter.died_at} /> },
]
