// A calendar's document as the texts of a form, one entry a line, and back. Pure.
import type { CalendarDocument } from 'openapi'

export interface Texts {
    policy: string
    timezone: string
    description: string
    dates: string
    weekly: string
    windows: string
    ical: string
}

const lines = (text: string) => text.split('\n').map(line => line.trim()).filter(Boolean)

export function print(doc: CalendarDocument | undefined): Texts {
    return {
        policy: doc?.policy ?? 'skip',
        timezone: doc?.timezone ?? '',
        description: doc?.description ?? '',
        dates: doc?.dates?.join('\n') ?? '',
        weekly: doc?.weekly?.join('\n') ?? '',
        windows: doc?.windows?.map(({ from, to }) => `${from}/${to}`).join('\n') ?? '',
        ical: doc?.ical ?? '',
    }
}

/** Absent is what is empty. The server says what is wrong with an entry. */
export function read(texts: Texts): CalendarDocument {
    const dates = lines(texts.dates)
    const weekly = lines(texts.weekly)
    const windows = lines(texts.windows).map(line => {
        const [from, to] = line.split('/').map(text => text.trim())
        return { from, to: to ?? '' }
    })
    return {
        policy: texts.policy as CalendarDocument['policy'],
        ...(texts.timezone.trim() && { timezone: texts.timezone.trim() }),
        ...(texts.description.trim() && { description: texts.description }),
        ...(dates.length > 0 && { dates }),
        ...(weekly.length > 0 && { weekly }),
        ...(windows.length > 0 && { windows }),
        ...(texts.ical && { ical: texts.ical }),
    }
}

/** "DE holidays.ics" may be called "DE-holidays". */
export function nameOf(file: string): string {
    return file.replace(/\.[^.]*$/, '').replace(/[^A-Za-z0-9_.:-]+/g, '-').replace(/^-+|-+$/g, '').slice(0, 200)
}
