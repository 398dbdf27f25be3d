// The picture: lanes below an axis, with a line at the moment it is now. It is moved by dragging or the arrows,
// zoomed by + and − or the wheel with Ctrl.
import './plot.css'
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { isPhone } from '../../base/choices'
import { exact } from '../../base/when'
import { now } from '../../live/live'
import { useSaid } from '../../parts/show/said'
import { Lane } from './lane'
import { drawLane, Lane as LaneData } from './layout'
import { ticks, View } from './view'

const ROWS_MAX = 9
const ROWS_MAX_PHONE = 6
const TICK_PX = 76
const CLICK_PX = 4 // less than that is a click, not a drag

export interface Moves {
    /** By a share of what is seen. */
    move: (share: number) => void
    /** Around a moment. */
    zoom: (step: 1 | -1, at: number) => void
    follow: () => void
    open: (from: number, until: number) => void
}

function useWidth() {
    const box = useRef<HTMLDivElement>(null)
    const [width, setWidth] = useState(0)
    useEffect(() => {
        const sizes = new ResizeObserver(() => box.current && setWidth(box.current.clientWidth))
        sizes.observe(box.current!)
        return () => sizes.disconnect()
    }, [])
    return { box, width }
}

function NowLine({ view, width }: { view: View, width: number }) {
    const x = Number(useSaid(() => String(Math.round((now.value - view.from) / (view.until - view.from) * width)),
        [view.from, view.until, width]))
    return x < 0 || x > width ? null : <div class="timeline-now" style={{ left: x }}><span>now</span></div>
}

function useDrag(width: number, moves: Moves) {
    const [dragged, setDragged] = useState(0)
    const began = useRef<number | null>(null)
    const far = useRef(false)
    const end = () => {
        if (began.current !== null && Math.abs(dragged) >= CLICK_PX)
            moves.move(-dragged / Math.max(1, width))
        began.current = null
        setDragged(0)
    }
    return { dragged, handlers: {
        onPointerDown: (event: PointerEvent) => {
            if (event.button === 0) {
                began.current = event.clientX
                far.current = false
            }
        },
        onPointerMove: (event: PointerEvent) => {
            if (began.current === null)
                return
            const by = event.clientX - began.current
            if (!far.current && Math.abs(by) >= CLICK_PX) {
                far.current = true;
                (event.currentTarget as Element).setPointerCapture(event.pointerId)
            }
            setDragged(far.current ? by : 0)
        },
        onPointerUp: end,
        onPointerCancel: end,
        onClickCapture: (event: Event) => { // what was dragged was not meant
            if (far.current) {
                event.preventDefault()
                event.stopPropagation()
            }
            far.current = false
        },
    } }
}

export function Plot({ lanes, view, zone, moves, isOld }: {
    lanes: readonly LaneData[], view: View, zone: string, moves: Moves, isOld: boolean,
}) {
    const { box, width } = useWidth()
    const plot = useRef<HTMLDivElement>(null)
    const rowsMax = isPhone.value ? ROWS_MAX_PHONE : ROWS_MAX
    const { dragged, handlers } = useDrag(width, moves)
    const latest = useRef(moves)
    latest.current = moves
    const at = useSaid(() => String(Math.floor((now.value - view.from) / (view.until - view.from) * width)),
        [view.from, view.until, width])
    const drawn = useMemo(() => width === 0 ? [] : lanes.map(lane =>
        drawLane(lane, view, width, rowsMax, now.peek())), [lanes, view.from, view.until, width, rowsMax, at])
    const timeAt = (clientX: number) => {
        const { left } = box.current!.getBoundingClientRect()
        return view.from + (clientX - left) / Math.max(1, width) * (view.until - view.from)
    }
    useEffect(() => { // a listener of JSX may not stop the browser's own zoom
        const onWheel = (event: WheelEvent) => {
            if (!event.ctrlKey)
                return
            event.preventDefault()
            latest.current.zoom(event.deltaY > 0 ? 1 : -1, timeAt(event.clientX))
        }
        plot.current!.addEventListener('wheel', onWheel, { passive: false })
        return () => plot.current?.removeEventListener('wheel', onWheel)
    }, [view.from, view.until, width])
    const onKeyDown = (event: KeyboardEvent) => {
        const middle = view.follows ? now.peek() : (view.from + view.until) / 2
        const deeds: Record<string, () => void> = {
            ArrowLeft: () => moves.move(-0.25), ArrowRight: () => moves.move(0.25),
            PageUp: () => moves.move(-1), PageDown: () => moves.move(1),
            '+': () => moves.zoom(-1, middle), '=': () => moves.zoom(-1, middle), '-': () => moves.zoom(1, middle),
            Home: moves.follow, 0: moves.follow,
        }
        const deed = event.ctrlKey || event.metaKey || event.altKey ? undefined : deeds[event.key]
        if (deed) {
            event.preventDefault()
            deed()
        }
    }
    return (
        <div ref={plot} class={`timeline-plot${isOld ? ' is-old' : ''}`} role="group" tabIndex={0} data-own-keys
            aria-label="Picture: arrows move it, plus and minus zoom, Home goes to now. The table has the same."
            onKeyDown={onKeyDown} {...handlers}>
            <div class="timeline-lane timeline-axis" aria-hidden="true">
                <div class="timeline-label soft small">{exact(view.from, zone, { seconds: false }).slice(0, 10)}</div>
                <div ref={box} class="timeline-bars">
                    <div class="timeline-moves" style={{ transform: `translateX(${dragged}px)` }}>
                        {width > 0 && ticks(view, width / TICK_PX).map(ms => <span key={ms} class="timeline-tick number"
                            style={{ left: (ms - view.from) / (view.until - view.from) * width }}>
                            {exact(ms, zone, { day: false, seconds: false, label: false })}</span>)}
                    </div>
                </div>
            </div>
            <div class="timeline-lanes" style={{ '--dragged': `${dragged}px` }}>
                {drawn.map((one, i) => <Lane key={lanes[i].key} lane={lanes[i]} drawn={one} zone={zone}
                    open={moves.open} />)}
                {width > 0 && <div class="timeline-lane timeline-over" aria-hidden="true"><div class="timeline-label" />
                    <div class="timeline-bars"><NowLine view={view} width={width} /></div></div>}
            </div>
        </div>
    )
}
