// Every page: its address, its name, and the module that is loaded when it is first opened. The first that
// matches counts. A new page is a line here, and one in `nouns` if it belongs into the side bar.
import type { ComponentType } from 'preact'
import { matchPath } from '../base/query'

export interface PageProps { params: Record<string, string> }
type Load = () => Promise<{ default: ComponentType<PageProps> }>

export interface Route {
    pattern: string // ":id" is one part, ":tab?" one that may be missing
    title: string
    load: Load
}

export const routes: Route[] = [
    { pattern: '/', title: 'Overview', load: () => import('../pages/overview/overview') },
    { pattern: '/jobs/new', title: 'New job', load: () => import('../pages/newjob/newjob') },
    { pattern: '/jobs/:id/:tab?', title: 'Job', load: () => import('../pages/job/job') },
    { pattern: '/jobs', title: 'Jobs', load: () => import('../pages/jobs/jobs') },
]

export const missing: Route = { pattern: '*', title: 'Not found', load: () => import('../pages/missing/missing') }
export const signIn: Route = { pattern: '/signin', title: 'Sign in', load: () => import('../pages/signin/signin') }

/** Of the side bar. `count` names a number of shell/counts.ts; `phone` is where it stands in the bar of four. */
export interface Noun { path: string, name: string, count?: 'deadLetters' | 'alerts', phone?: number }

export const nouns: Noun[] = [
    { path: '/', name: 'Overview', phone: 1 },
    { path: '/jobs', name: 'Jobs', phone: 2 },
]

export function findRoute(path: string): { route: Route, params: Record<string, string> } {
    for (const route of [...routes, signIn]) {
        const params = matchPath(route.pattern, path)
        if (params)
            return { route, params }
    }
    return { route: missing, params: {} }
}
