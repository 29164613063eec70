import { Button, Group, Text } from '@mantine/core';
import { useVirtualizer } from '@tanstack/react-virtual';
import { useLayoutEffect, useRef, useState } from 'react';
import { describeError } from '../../api/api-error.js';
import { CopyButton } from '../../components/copy.js';
import { showToast } from '../../toasts.js';
import { toPlainText, toSpans, type LogLine } from './log-lines.js';
import classes from './run-log.module.css';
import { saveLog, useLog, type FollowedLog } from './use-log.js';

const LINE_HEIGHT = 20;
const OVERSCAN = 20;

/** Scrolls with the log until the person scrolls up, and again after the person has scrolled to the end. */
const useFollowedEnd = (lines: readonly LogLine[]) => {
  const scroller = useRef<HTMLDivElement>(null);
  const [isAtEnd, setAtEnd] = useState(true);
  const virtualizer = useVirtualizer({
    count: lines.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => LINE_HEIGHT,
    overscan: OVERSCAN,
  });
  const goToEnd = () => {
    const { current } = scroller;
    current?.scrollTo({ top: current.scrollHeight });
  };
  useLayoutEffect(() => {
    if (isAtEnd) goToEnd();
  }, [lines, isAtEnd]);
  const onScroll = () => {
    const { current } = scroller;
    if (current) setAtEnd(current.scrollHeight - current.scrollTop - current.clientHeight < 2 * LINE_HEIGHT);
  };
  return { scroller, virtualizer, isAtEnd, goToEnd, onScroll };
};

const Line = ({ line }: { readonly line: LogLine }) =>
  toSpans(line.text).map(({ text, styles }, index) => (
    <span key={index} className={styles.map((style) => classes[style]).join(' ')}>
      {text}
    </span>
  ));

const describeState = ({ lines, isLoaded, error }: FollowedLog, hasEnded: boolean): string | null => {
  if (error) return `The log could not be read. ${describeError(error)}`;
  if (lines.length > 0) return null;
  if (!isLoaded) return 'Loading the log…';
  return hasEnded ? 'The executor has written no log.' : 'Waits for the first output.';
};

type RunLogProps = {
  /** Names the log, such as `Log of the plan`. */
  readonly label: string;
  readonly address: string;
  readonly hasEnded: boolean;
  /** The name of the file to download. */
  readonly file: string;
};

/** The output of a phase, while it runs and after its end. */
export const RunLog = ({ label, address, hasEnded, file }: RunLogProps) => {
  const log = useLog({ address, hasEnded });
  const { scroller, virtualizer, isAtEnd, goToEnd, onScroll } = useFollowedEnd(log.lines);
  const state = describeState(log, hasEnded);
  const download = () =>
    void saveLog(address, file).catch((error: unknown) => showToast({ kind: 'error', message: describeError(error) }));
  return (
    <div className={classes['log']}>
      <Group gap="xs" className={classes['bar']}>
        <Text size="xs" c="dimmed" role="status">
          {state ?? `${(log.dropped + log.lines.length).toLocaleString()} lines`}
          {log.dropped > 0 && `. The last ${log.lines.length.toLocaleString()} are shown; the file has all.`}
        </Text>
        {!isAtEnd && (
          <Button size="compact-xs" variant="light" onClick={goToEnd}>
            Go to the end
          </Button>
        )}
        <Group gap={4} ml="auto">
          <Button size="compact-xs" variant="default" onClick={download}>
            Download
          </Button>
          <CopyButton text={() => log.lines.map(toPlainText).join('\n')} label={`Copy the ${label.toLowerCase()}`} />
        </Group>
      </Group>
      {/* It can scroll, so the keyboard must reach it. */}
      <div
        ref={scroller}
        className={classes['scroller']}
        tabIndex={0}
        role="region"
        aria-label={label}
        onScroll={onScroll}
      >
        <div className={classes['lines']} style={{ height: virtualizer.getTotalSize() }}>
          {virtualizer.getVirtualItems().map(({ index, start }) => {
            const line = log.lines[index];
            return (
              line && (
                <div
                  key={index}
                  className={classes['line']}
                  data-level={line.level ?? undefined}
                  style={{ transform: `translateY(${start}px)` }}
                >
                  <Line line={line} />
                </div>
              )
            );
          })}
        </div>
      </div>
    </div>
  );
};
