import { useElementSize } from '@mantine/hooks';
import { Link, type LinkProps } from '@tanstack/react-router';
import { createContext, use, useMemo, useState, type KeyboardEvent, type ReactNode } from 'react';
import classes from './chart.module.css';

/* A picture is one stop of the Tab key. Arrow keys move between its links, as in a grid of the ARIA authoring practices. */

type MarkContext = {
  readonly current: number;
  readonly columns: number;
  readonly show: (index: number | null, label: string) => void;
};

const Marks = createContext<MarkContext>({ current: 0, columns: 1, show: () => undefined });

const HINT = 'Point at a part to see its numbers. Choose it to see the list behind them.';

const readIndex = (element: Element | null): number => Number(element?.getAttribute('data-index'));

/** Returns the link that is reached by steps of this size, across positions without a link. */
const findByStep = (links: readonly Element[], from: number, step: number): Element | undefined => {
  const inColumn = links.filter((link) => (readIndex(link) - from) % step === 0);
  const ahead = inColumn.filter((link) => Math.sign(readIndex(link) - from) === Math.sign(step));
  return step > 0 ? ahead[0] : ahead.at(-1);
};

type ChartPictureProps = {
  /** Names the picture. */
  readonly label: string;
  readonly height: number;
  /** The positions of the links, in order. */
  readonly positions: readonly number[];
  /** The number of positions in a row, if the picture is a grid. */
  readonly columns?: number;
  /** Draws the picture for a width. */
  readonly children: (width: number) => ReactNode;
};

/** Returns the link that a key moves to. */
const findByKey = ({ key, currentTarget }: KeyboardEvent, columns: number): Element | undefined => {
  const links = [...(currentTarget.closest('svg')?.querySelectorAll('a') ?? [])];
  if (key === 'Home') return links[0];
  if (key === 'End') return links.at(-1);
  const steps: Readonly<Record<string, number>> = {
    ArrowLeft: -1,
    ArrowRight: 1,
    ArrowUp: -columns,
    ArrowDown: columns,
  };
  const step = steps[key];
  return step === undefined ? undefined : findByStep(links, readIndex(currentTarget), step);
};

/** Draws as wide as the card. The line below describes the link at the pointer or with the focus. */
export const ChartPicture = ({ label, height, positions, columns = 1, children }: ChartPictureProps) => {
  const { ref, width } = useElementSize();
  const [last, setLast] = useState<number | null>(null);
  const [detail, setDetail] = useState('');
  const current = last !== null && positions.includes(last) ? last : (positions[0] ?? 0);
  const context = useMemo<MarkContext>(
    () => ({
      current,
      columns,
      show: (index, text) => {
        setDetail(text);
        if (index !== null) setLast(index);
      },
    }),
    [columns, current],
  );
  return (
    <div ref={ref}>
      <Marks value={context}>
        <svg className={classes['picture']} height={height} role="group" aria-label={label}>
          {width > 0 && children(width)}
        </svg>
      </Marks>
      <p className={classes['detail']} aria-hidden="true">
        {detail || HINT}
      </p>
    </div>
  );
};

type ChartLinkProps = {
  /** The box of the link in the picture, from 0: row by row in a grid. */
  readonly index: number;
  /** The numbers as a text. */
  readonly label: string;
  readonly link: LinkProps;
  readonly children: ReactNode;
};

/** A part of a picture that leads to the list behind it. */
export const ChartLink = ({ index, label, link, children }: ChartLinkProps) => {
  const { current, columns, show } = use(Marks);
  const onKeyDown = (event: KeyboardEvent) => {
    const next = findByKey(event, columns);
    if (!(next instanceof SVGElement)) return;
    event.preventDefault();
    next.focus();
  };
  return (
    <Link
      {...link}
      className={classes['link']}
      aria-label={label}
      data-index={index}
      tabIndex={index === current ? 0 : -1}
      preload={false}
      onKeyDown={onKeyDown}
      onMouseEnter={() => show(null, label)}
      onMouseLeave={() => show(null, '')}
      onFocus={() => show(index, label)}
      onBlur={() => show(null, '')}
    >
      {children}
    </Link>
  );
};
