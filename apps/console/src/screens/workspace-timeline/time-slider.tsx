import { Button, Group } from '@mantine/core';
import { useId } from 'react';
import { formatExactTime } from '../../components/times.js';
import classes from './workspace-timeline.module.css';

type TimeSliderProps = {
  /** The first and the last time of the slider, in milliseconds. */
  readonly first: number;
  readonly last: number;
  readonly value: number;
  /** The times of the changes that are loaded, in milliseconds, in ascending order. */
  readonly marks: readonly number[];
  readonly onChange: (time: number) => void;
  readonly onNow: () => void;
};

/** The steps of the arrow keys. */
const STEPS = 500;

/** Chooses a time between the creation of the workspace and now. */
export const TimeSlider = ({ first, last, value, marks, onChange, onNow }: TimeSliderProps) => {
  const id = useId();
  const earlier = marks.findLast((mark) => mark < value);
  const later = marks.find((mark) => mark > value);
  const show = (time: number | undefined) => {
    if (time !== undefined) onChange(time);
  };
  return (
    <div className={classes['slider']}>
      <label htmlFor={id} className={classes['label']}>
        The workspace at
      </label>
      <output htmlFor={id} className={classes['time']}>
        {value >= last ? 'Now' : formatExactTime(new Date(value).toISOString())}
      </output>
      <input
        id={id}
        type="range"
        min={first}
        max={last}
        step={Math.max(1, Math.floor((last - first) / STEPS))}
        value={value}
        list={`${id}-marks`}
        aria-valuetext={value >= last ? 'Now' : formatExactTime(new Date(value).toISOString())}
        onChange={(event) => onChange(event.currentTarget.valueAsNumber)}
      />
      <datalist id={`${id}-marks`}>
        {marks.map((mark) => (
          <option key={mark} value={mark} aria-label={formatExactTime(new Date(mark).toISOString())} />
        ))}
      </datalist>
      <Group gap="xs">
        <Button size="xs" variant="default" disabled={earlier === undefined} onClick={() => show(earlier)}>
          Previous change
        </Button>
        <Button size="xs" variant="default" disabled={later === undefined} onClick={() => show(later)}>
          Next change
        </Button>
        <Button size="xs" variant="default" disabled={value >= last} onClick={onNow}>
          Now
        </Button>
      </Group>
    </div>
  );
};
