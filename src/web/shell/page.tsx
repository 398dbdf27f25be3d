// The page of this address. Its module is loaded when it is first opened; the page before stays meanwhile.
import { Component, ComponentType } from 'preact'
import { useEffect, useLayoutEffect, useState } from 'preact/hooks'
import { Problem, problemOf } from '../api/problem'
import { ProblemBox } from '../parts/show/problem'
import { address, PageProps } from '../base/router'
import { useTitle } from '../base/title'
import { Denied } from './denied'
import { findRoute, isOf, nouns, offered, Route, signIn } from './routes'

const loaded = new Map<Route, ComponentType<PageProps>>()

/** A page that breaks leaves the rest alone, and the next page is a new beginning. */
class Guard extends Component<{ path: string }, { problem: Problem | null }> {
    state = { problem: null as Problem | null }

    componentDidCatch(why: unknown) {
        console.error(why)
        this.setState({ problem: problemOf(why) })
    }

    componentDidUpdate(before: { path: string }) {
        if (before.path !== this.props.path && this.state.problem)
            this.setState({ problem: null })
    }

    render() {
        const { problem } = this.state
        return problem ? <ProblemBox problem={problem} retry={() => this.setState({ problem: null })} />
            : this.props.children
    }
}

export function Page({ signing = false }: { signing?: boolean }) {
    const { path } = address.value
    const found = signing ? { route: signIn, params: {} } : findRoute(path)
    const [shown, show] = useState(found)
    const [problem, setProblem] = useState<Problem | null>(null)
    const { route } = found

    useEffect(() => {
        let left = false
        setProblem(null)
        route.load().then(module => {
            loaded.set(route, module.default)
            if (!left)
                show({ ...found }) // another object, so that this is drawn again
        }, why => left || setProblem(problemOf(why)))
        return () => {
            left = true
        }
    }, [route, path])

    const current = loaded.has(route) ? found : shown
    useTitle(current.route.title)
    useLayoutEffect(() => {
        const heading = document.querySelector<HTMLElement>('#main h1')
        if (document.activeElement === document.body || document.activeElement?.id === 'main')
            heading?.focus({ preventScroll: true })
    }, [current.route])

    const noun = nouns.find(one => isOf(one, path))
    if (!signing && noun && !offered().includes(noun))
        return <Denied />
    if (problem)
        return <ProblemBox problem={problem} retry={() => location.reload()} />
    const Shown = loaded.get(current.route)
    return Shown ? <Guard path={path}><Shown params={current.params} /></Guard> : null
}
