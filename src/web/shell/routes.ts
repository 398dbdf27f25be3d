// Every page: its address, its name, and the module that is loaded when it is first opened. The first that
// matches counts. A new page is a line here, and one in `nouns` if it belongs into the side bar.
import type { ComponentType } from 'preact'
import { may } from '../api/session'
import { matchPath } from '../base/query'
import type { PageProps } from '../base/router'

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
    { pattern: '/executions', title: 'Executions', load: () => import('../pages/executions/executions') },
    { pattern: '/executions/:id/:tab?', title: 'Execution', load: () => import('../pages/execution/execution') },
    { pattern: '/timeline', title: 'Timeline', load: () => import('../pages/timeline/timeline') },
    { pattern: '/queues', title: 'Queues', load: () => import('../pages/queues/queues') },
    { pattern: '/queues/:name', title: 'Queue', load: () => import('../pages/queue/queue') },
    { pattern: '/dead-letters', title: 'Dead letters', load: () => import('../pages/letters/letters') },
    { pattern: '/dead-letters/:id', title: 'Dead letter', load: () => import('../pages/letter/letter') },
    { pattern: '/workers', title: 'Workers', load: () => import('../pages/workers/workers') },
    { pattern: '/workers/:id', title: 'Worker', load: () => import('../pages/worker/worker') },
    { pattern: '/breakers', title: 'Breakers', load: () => import('../pages/breakers/breakers') },
    { pattern: '/calendars', title: 'Calendars', load: () => import('../pages/calendars/calendars') },
    { pattern: '/calendars/:name', title: 'Calendar', load: () => import('../pages/calendar/calendar') },
    { pattern: '/alerts/:tab?', title: 'Alerts', load: () => import('../pages/alerts/alerts') },
    { pattern: '/operations', title: 'Operations', load: () => import('../pages/operations/operations') },
    { pattern: '/operations/:id', title: 'Operation', load: () => import('../pages/operation/operation') },
    { pattern: '/cron', title: 'Cron', load: () => import('../pages/cron/cron') },
    { pattern: '/cluster', title: 'Cluster', load: () => import('../pages/cluster/cluster') },
    { pattern: '/settings', title: 'Settings', load: () => import('../pages/settings/settings') },
]

export const missing: Route = { pattern: '*', title: 'Not found', load: () => import('../pages/missing/missing') }
export const signIn: Route = { pattern: '/signin', title: 'Sign in', load: () => import('../pages/signin/signin') }

/** Of the side bar. `call` is what its page reads first, `count` names a number of shell/counts.ts, and `phone` is
 *  where it stands in the bar of four. */
export interface Noun { path: string, call: string, name: string, count?: 'deadLetters' | 'alerts', phone?: number }

export const nouns: Noun[] = [
    { path: '/', call: '/stats', name: 'Overview', phone: 1 },
    { path: '/jobs', call: '/jobs', name: 'Jobs', phone: 2 },
    { path: '/executions', call: '/executions', name: 'Executions', phone: 3 },
    { path: '/timeline', call: '/timeline', name: 'Timeline' },
    { path: '/queues', call: '/queues', name: 'Queues' },
    { path: '/dead-letters', call: '/dead-letters', name: 'Dead letters', count: 'deadLetters' },
    { path: '/workers', call: '/workers', name: 'Workers' },
    { path: '/calendars', call: '/calendars', name: 'Calendars' },
    { path: '/breakers', call: '/breakers', name: 'Breakers' },
    { path: '/alerts', call: '/alerts', name: 'Alerts', count: 'alerts' },
    { path: '/operations', call: '/operations', name: 'Operations' },
    { path: '/cron', call: '/schedule/preview', name: 'Cron' },
    { path: '/cluster', call: '/cluster', name: 'Cluster' },
    { path: '/settings', call: '/settings', name: 'Settings' },
]

/** Those whose pages one may read. */
export const offered = (): Noun[] => nouns.filter(noun => may('GET', noun.call))

export const isOf = (noun: Noun, path: string): boolean =>
    noun.path === '/' ? path === '/' : path === noun.path || path.startsWith(noun.path + '/')

export function findRoute(path: string): { route: Route, params: Record<string, string> } {
    for (const route of [...routes, signIn]) {
        const params = matchPath(route.pattern, path)
        if (params)
            return { route, params }
    }
    return { route: missing, params: {} }
}
