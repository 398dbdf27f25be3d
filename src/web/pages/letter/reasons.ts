// Why there was no further attempt.
import type { DeadLetter } from 'openapi'

export const reasons: Record<DeadLetter['reason'], { word: string, why: string }> = {
    exhausted: { word: 'no retries left', why: 'All attempts that its job allows have failed.' },
    permanent: { word: 'cannot pass', why: 'It failed in a way that trying again cannot help.' },
    not_retried: { word: 'not to be retried', why: "Its job's retry_on does not name this class of failure." },
    quarantined: { word: 'quarantined', why: 'Too many workers were lost with it: it may be what takes them down.' },
}
