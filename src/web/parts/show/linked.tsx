// The server's words, with the ids in them as links.
import { part } from '../../base/query'

const pages: Record<string, string> = { job: 'jobs', exec: 'executions', wrk: 'workers' }

/** Every second piece is an id. */
export const splitIds = (text: string) => text.split(/\b((?:job|exec|wrk)_[0-9a-z]{13})\b/)

export function Linked({ text }: { text: string }) {
    return <>{splitIds(text).map((piece, i) => i % 2 === 0 ? piece
        : <a key={i} href={`/${pages[piece.split('_')[0]]}/${part(piece)}`}>{piece}</a>)}</>
}
