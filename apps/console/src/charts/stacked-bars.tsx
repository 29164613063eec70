import { AxisBottom, AxisLeft } from '@visx/axis';
import { scaleBand, scaleLinear } from '@visx/scale';
import type { LinkProps } from '@tanstack/react-router';
import { ChartLink, ChartPicture } from './chart-marks.js';
import type { ChartColor } from './chart-card.js';
import classes from './chart.module.css';

type BarPart = {
  readonly color: ChartColor;
  readonly value: number;
  readonly label: string;
  readonly link: LinkProps;
};

type StackedBar = {
  readonly id: string;
  /** Below the bar. */
  readonly label: string;
  readonly parts: readonly BarPart[];
};

const HEIGHT = 220;
const MARGIN = { top: 8, right: 4, bottom: 24, left: 36 };
const PX_PER_LABEL = 64;
/** Between two parts, so that they differ without their colors too. */
const GAP = 1;

type PlacedPart = BarPart & { readonly from: number; readonly index: number };

const stackParts = (
  bars: readonly StackedBar[],
): readonly (StackedBar & { readonly placed: readonly PlacedPart[] })[] => {
  let index = 0;
  return bars.map((bar) => {
    let from = 0;
    const placed = bar.parts.flatMap((part) => {
      if (part.value === 0) return [];
      const one = { ...part, from, index };
      from += part.value;
      index += 1;
      return [one];
    });
    return { ...bar, placed };
  });
};

type StackedBarsProps = {
  readonly label: string;
  readonly bars: readonly StackedBar[];
  /** Returns the text of a value at the left. */
  readonly formatValue?: (value: number) => string;
};

const formatNumber = (value: number): string => value.toLocaleString();

/** Bars beside each other. The parts of a bar stand upon each other, and each leads to the list behind it. */
export const StackedBars = ({ label, bars, formatValue = formatNumber }: StackedBarsProps) => {
  const placed = stackParts(bars);
  const positions = placed.flatMap((bar) => bar.placed.map(({ index }) => index));
  const most = Math.max(1, ...bars.map(({ parts }) => parts.reduce((sum, { value }) => sum + value, 0)));
  return (
    <ChartPicture label={label} height={HEIGHT} positions={positions}>
      {(width) => {
        const x = scaleBand({
          domain: bars.map(({ id }) => id),
          range: [MARGIN.left, width - MARGIN.right],
          padding: 0.2,
        });
        const y = scaleLinear({ domain: [0, most], range: [HEIGHT - MARGIN.bottom, MARGIN.top], nice: 4 });
        const everyNth = Math.ceil(bars.length / Math.max(1, Math.floor((width - MARGIN.left) / PX_PER_LABEL)));
        return (
          <>
            <g aria-hidden="true">
              <AxisLeft
                scale={y}
                left={MARGIN.left}
                numTicks={Math.min(4, most)}
                tickFormat={(value) => formatValue(value.valueOf())}
                tickClassName={classes['axis']}
                axisClassName={classes['axis']}
                tickLength={4}
              />
              <AxisBottom
                scale={x}
                top={HEIGHT - MARGIN.bottom}
                tickValues={bars.filter((_, index) => (bars.length - 1 - index) % everyNth === 0).map(({ id }) => id)}
                tickFormat={(id) => bars.find((bar) => bar.id === id)?.label ?? ''}
                axisClassName={classes['axis']}
                tickLength={4}
              />
            </g>
            {placed.map(({ id, placed: parts }) =>
              parts.map(({ color, value, from, index, label: text, link }) => {
                const [top, bottom] = [y(from + value), y(from)];
                const box = { x: x(id) ?? 0, y: top, width: x.bandwidth() };
                return (
                  <ChartLink key={color} index={index} label={text} link={link}>
                    <g data-color={color}>
                      <rect className={classes['mark']} {...box} height={Math.max(1, bottom - top - GAP)} />
                      <rect className={classes['focus']} {...box} height={Math.max(1, bottom - top)} />
                    </g>
                  </ChartLink>
                );
              }),
            )}
          </>
        );
      }}
    </ChartPicture>
  );
};
