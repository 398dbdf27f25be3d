// An address that no page has.
import { address } from '../../base/router'
import { Empty } from '../../parts/show/empty'

export default function Missing() {
    return (
        <div class="stack">
            <h1 tabIndex={-1}>There is no page at this address</h1>
            <Empty title={address.value.path}>
                It may have been of another version of belfry. <a href="/">The overview</a> leads on, and Ctrl-K finds
                jobs by name and anything by its id.
            </Empty>
        </div>
    )
}
