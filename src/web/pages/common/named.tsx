// The server's words, with the ids in them as links; jobs are called by their names, where they have one.
import { useResource } from '../../api/resource'
import { part } from '../../base/query'
import { Linked, splitIds } from '../../parts/show/linked'

function JobName({ id }: { id: string }) {
    const { data } = useResource<{ name: string | null }>(`/jobs/${part(id)}`, { fields: 'job_id,name' })
    return <a href={`/jobs/${part(id)}`} title={id}><bdi>{data?.name ?? id}</bdi></a>
}

export function Named({ text }: { text: string }) {
    return <>{splitIds(text).map((piece, i) => i % 2 === 1 && piece.startsWith('job_') ? <JobName key={i} id={piece} />
        : <Linked key={i} text={piece} />)}</>
}
