import { scaleLinear } from '@visx/scale';
import { Link, type LinkProps } from '@tanstack/react-router';
import type { ChartColor } from './chart-card.js';
import classes from './bar-list.module.css';
import chart from './chart.module.css';

type ListedBar = {
  readonly id: string;
  readonly label: string;
  readonly parts: readonly { readonly color: ChartColor; readonly value: number }[];
  /** The numbers of the bar. */
  readonly text: string;
  readonly link?: LinkProps;
};

const WIDTH = 100;
const HEIGHT = 12;

/** Bars below each other, as wide as their names leave. A name leads to the list behind its bar. */
export const BarList = ({ label, bars }: { readonly label: string; readonly bars: readonly ListedBar[] }) => {
  const totals = bars.map(({ parts }) => parts.reduce((sum, { value }) => sum + value, 0));
  const x = scaleLinear({ domain: [0, Math.max(1, ...totals)], range: [0, WIDTH] });
  return (
    <ul className={classes['bars']} aria-label={label}>
      {bars.map(({ id, label: name, parts, text, link }) => (
        <li key={id} className={classes['bar']}>
          <span className={classes['name']}>{link ? <Link {...link}>{name}</Link> : name}</span>
          <svg
            className={classes['picture']}
            viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
            preserveAspectRatio="none"
            aria-hidden="true"
          >
            {parts.map(({ color, value }, index) => {
              const from = parts.slice(0, index).reduce((sum, part) => sum + part.value, 0);
              return (
                <g key={color} data-color={color}>
                  <rect className={chart['mark']} x={x(from)} width={x(value)} height={HEIGHT} />
                </g>
              );
            })}
          </svg>
          <span className={classes['text']}>{text}</span>
        </li>
      ))}
    </ul>
  );
};
