import { scaleBand, scaleQuantize } from '@visx/scale';
import type { LinkProps } from '@tanstack/react-router';
import { ChartLink, ChartPicture } from './chart-marks.js';
import classes from './chart.module.css';

type HeatCell = { readonly value: number; readonly label: string; readonly link: LinkProps };

type HeatRow = { readonly id: string; readonly label: string; readonly cells: readonly HeatCell[] };

const ROW = 16;
const TOP = 18;
const LEFT = 52;
const LEVELS = [1, 2, 3, 4, 5];
const LABEL_EVERY = 6;

/** Rows of cells whose color grows with their value. A cell leads to the list behind it; cells without a value do not. */
export const HeatMap = ({ label, rows }: { readonly label: string; readonly rows: readonly HeatRow[] }) => {
  const columns = Math.max(1, ...rows.map(({ cells }) => cells.length));
  const most = Math.max(1, ...rows.flatMap(({ cells }) => cells.map(({ value }) => value)));
  const height = TOP + rows.length * ROW;
  const level = scaleQuantize({ domain: [0, most], range: LEVELS });
  const y = scaleBand({ domain: rows.map(({ id }) => id), range: [TOP, height], padding: 0.12 });
  const positions = rows.flatMap(({ cells }, row) =>
    cells.flatMap(({ value }, column) => (value > 0 ? [row * columns + column] : [])),
  );
  return (
    <ChartPicture label={label} height={height} positions={positions} columns={columns}>
      {(width) => {
        const x = scaleBand({
          domain: Array.from({ length: columns }, (_, column) => column),
          range: [LEFT, width],
          padding: 0.12,
        });
        return (
          <>
            <g aria-hidden="true">
              {x
                .domain()
                .filter((column) => column % LABEL_EVERY === 0)
                .map((column) => (
                  <text key={column} className={classes['label']} x={x(column)} y={TOP - 6}>
                    {column}:00
                  </text>
                ))}
              {rows.map((row) => (
                <text key={row.id} className={classes['label']} x={0} y={(y(row.id) ?? 0) + ROW - 4}>
                  {row.label}
                </text>
              ))}
            </g>
            {rows.map((row, index) =>
              row.cells.map(({ value, label: text, link }, column) => {
                const box = { x: x(column) ?? 0, y: y(row.id) ?? 0, width: x.bandwidth(), height: y.bandwidth() };
                if (value === 0) return <rect key={column} className={classes['none']} {...box} />;
                return (
                  <ChartLink key={column} index={index * columns + column} label={text} link={link}>
                    <rect className={classes['heat']} data-level={level(value)} {...box} />
                    <rect className={classes['focus']} {...box} />
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
