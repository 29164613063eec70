import { Button } from '@mantine/core';
import { useId, useLayoutEffect, useRef, useState, type ReactNode } from 'react';
import classes from './long-text.module.css';

type LongTextProps = {
  readonly text: string;
  /** The text as an element, such as a link. */
  readonly children?: ReactNode;
};

/** A text whose first three lines are visible, with a button that shows the others. */
export const LongText = ({ text, children = text }: LongTextProps) => {
  const id = useId();
  const element = useRef<HTMLDivElement>(null);
  const [isOpen, setOpen] = useState(false);
  const [isLong, setLong] = useState(false);
  useLayoutEffect(() => {
    const { current } = element;
    if (isOpen || !current) return undefined;
    const observer = new ResizeObserver(() => setLong(current.scrollHeight > current.clientHeight + 1));
    observer.observe(current);
    return () => observer.disconnect();
  }, [isOpen, text]);
  return (
    <>
      <div id={id} ref={element} className={classes['text']} data-clamped={!isOpen || undefined}>
        {children}
      </div>
      {isLong && (
        <Button
          variant="subtle"
          size="compact-xs"
          ml={-8}
          aria-expanded={isOpen}
          aria-controls={id}
          onClick={() => setOpen(!isOpen)}
        >
          {isOpen ? 'Show less' : 'Show more'}
        </Button>
      )}
    </>
  );
};
