import { Button, Stack, Text, VisuallyHidden } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { Link, type LinkProps } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { Card } from '../components/card.js';
import { DataTable } from '../components/data-table.js';
import classes from './chart.module.css';

/** A color of a picture. What it means is in the legend. */
export type ChartColor = 'applied' | 'planned' | 'failed' | 'stopped' | 'open';

export type LegendEntry = { readonly label: string; readonly color: ChartColor };

/** A row of the numbers behind a picture. `link`: the list behind them. */
type ChartRow = { readonly id: string; readonly cells: readonly string[]; readonly link?: LinkProps };

type ChartCardProps = {
  readonly title: string;
  readonly description?: ReactNode;
  readonly headers: readonly string[];
  readonly rows: readonly ChartRow[];
  readonly legend?: readonly LegendEntry[];
  /** The content if there is nothing to draw; null if there is. */
  readonly empty: ReactNode;
  /** A text below the picture and the table, such as the number of rows that they leave out. */
  readonly note?: ReactNode;
  readonly children: ReactNode;
};

const Legend = ({ entries }: { readonly entries: readonly LegendEntry[] }) => (
  <ul className={classes['legend']} aria-label="Colors">
    {entries.map(({ label, color }) => (
      <li key={color} data-color={color}>
        <span className={classes['swatch']} aria-hidden="true" />
        {label}
      </li>
    ))}
  </ul>
);

type NumbersProps = { readonly title: string; readonly headers: readonly string[]; readonly rows: readonly ChartRow[] };

const Numbers = ({ title, headers, rows }: NumbersProps) => (
  <DataTable
    label={title}
    isInCard
    canScroll
    rows={rows}
    columns={headers.map((header, index) => ({
      header,
      cell: ({ cells, link }: ChartRow) => (index === 0 && link ? <Link {...link}>{cells[0]}</Link> : cells[index]),
      ...(index === 0 ? {} : { align: 'right' as const }),
    }))}
  />
);

/** The same numbers for screen readers, without links: the picture has them. */
const HiddenNumbers = ({ title, headers, rows }: NumbersProps) => (
  <VisuallyHidden>
    <table aria-label={title}>
      <thead>
        <tr>
          {headers.map((header) => (
            <th key={header} scope="col">
              {header}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map(({ id, cells }) => (
          <tr key={id}>
            {cells.map((cell, index) =>
              index === 0 ? (
                <th key={index} scope="row">
                  {cell}
                </th>
              ) : (
                <td key={index}>{cell}</td>
              ),
            )}
          </tr>
        ))}
      </tbody>
    </table>
  </VisuallyHidden>
);

/** A picture with its numbers: screen readers read them, and everybody can look at them instead of the picture. */
export const ChartCard = (props: ChartCardProps) => {
  const { title, description, legend = [], empty, note, children, ...numbers } = props;
  const [isTable, table] = useDisclosure(false);
  const button = (
    <Button size="compact-sm" variant="subtle" onClick={table.toggle}>
      {isTable ? 'Show the picture' : 'Show the numbers'}
      <VisuallyHidden> of {title}</VisuallyHidden>
    </Button>
  );
  return (
    <Card title={title} actions={empty ? undefined : button}>
      {description && (
        <Text size="sm" c="dimmed">
          {description}
        </Text>
      )}
      {empty ? (
        <Text size="sm" c="dimmed" component="div">
          {empty}
        </Text>
      ) : isTable ? (
        <Numbers title={title} {...numbers} />
      ) : (
        <Stack gap="xs" className={classes['chart']}>
          {legend.length > 0 && <Legend entries={legend} />}
          {children}
          <HiddenNumbers title={title} {...numbers} />
        </Stack>
      )}
      {!empty && note && (
        <Text size="sm" c="dimmed">
          {note}
        </Text>
      )}
    </Card>
  );
};
