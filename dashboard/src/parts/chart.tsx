// A chart over time, drawn by uPlot. Its code is loaded with the first page that has a chart.

import { useEffect, useRef } from 'preact/hooks'
import uPlot from 'uplot'
import 'uplot/dist/uPlot.min.css'
import { clockText, zone } from './time.tsx'

/** A line or area. */
interface Series {
  readonly name: string
  /** A variable of the style sheet. */
  readonly colour: string
  readonly values: readonly (number | null)[]
  readonly isFilled?: boolean
}

interface ChartProps {
  readonly label: string
  /** Milliseconds since the Unix epoch. */
  readonly times: readonly number[]
  readonly series: readonly Series[]
  readonly height?: number
  /** Called with the span that the user selects with the pointer. */
  readonly onZoom?: (from: number, to: number) => void
}

/** Returns the value of a variable of the style sheet, because a canvas cannot use variables. */
function colourOf(variable: string, element: Element): string {
  const probe = document.createElement('span')
  probe.style.color = `var(${variable})`
  element.append(probe)
  const { color } = getComputedStyle(probe)
  probe.remove()
  return color
}

/** Most values are missing, so that lines between points are not visible. */
function isSparse(values: readonly (number | null)[]): boolean {
  const present = values.filter(value => value !== null).length
  return present < values.length / 4
}

const shortNumber = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 })

function optionsOf({ series, height = 190, onZoom }: ChartProps, host: Element): uPlot.Options {
  const axis = {
    stroke: colourOf('--soft', host),
    grid: { stroke: colourOf('--line', host), width: 1 },
    ticks: { stroke: colourOf('--line', host), width: 1 },
  }
  return {
    width: host.clientWidth,
    height,
    ...(zone.value === 'UTC' && { tzDate: seconds => uPlot.tzDate(new Date(seconds * 1000), 'Etc/UTC') }),
    cursor: { drag: { x: onZoom !== undefined, y: false } },
    scales: { y: { range: (_, __, max) => [0, Math.max(1, max * 1.1)] } },
    axes: [
      { ...axis, values: (_, splits) => splits.map(split => clockText(split * 1000)) },
      { ...axis, size: 56, values: (_, splits) => splits.map(split => shortNumber.format(split)) },
    ],
    series: [
      {},
      ...series.map(({ name, colour, values, isFilled }) => {
        const stroke = colourOf(colour, host)
        return {
          label: name,
          stroke,
          width: 1.6,
          points: { show: values.length < 3 || isSparse(values), size: 5 },
          spanGaps: false,
          ...(isFilled === true && { fill: stroke.replace(/^rgb\(/, 'rgba(').replace(/\)$/, ', 0.14)') }),
        }
      }),
    ],
    hooks: {
      setSelect: [
        plot => {
          const { left, width } = plot.select
          if (width < 4) return
          onZoom?.(plot.posToVal(left, 'x') * 1000, plot.posToVal(left + width, 'x') * 1000)
        },
      ],
    },
  }
}

/** Draws the chart again for new data, another width, other colours or another time zone. */
export function Chart(props: ChartProps) {
  const host = useRef<HTMLDivElement>(null)
  const { times, series, label } = props
  useEffect(() => {
    const element = host.current
    if (!element) return
    const data = [
      times.map(time => time / 1000),
      ...series.map(({ values }) => [...values]),
    ] as uPlot.AlignedData
    let plot = new uPlot(optionsOf(props, element), data, element)
    const redraw = () => {
      plot.destroy()
      plot = new uPlot(optionsOf(props, element), data, element)
    }
    const sizes = new ResizeObserver(() => {
      if (element.clientWidth > 0) plot.setSize({ width: element.clientWidth, height: plot.height })
    })
    sizes.observe(element)
    const scheme = matchMedia('(prefers-color-scheme: dark)')
    scheme.addEventListener('change', redraw)
    const themes = new MutationObserver(redraw)
    themes.observe(document.documentElement, { attributeFilter: ['data-theme'] })
    return () => {
      sizes.disconnect()
      themes.disconnect()
      scheme.removeEventListener('change', redraw)
      plot.destroy()
    }
  }, [times, series, zone.value])
  return (
    <figure class="chart">
      <figcaption>{label}</figcaption>
      <div ref={host} />
    </figure>
  )
}
