import { Button, Group, Progress, Stack, Text } from '@mantine/core';
import type { ChangeProgress } from './change-runner.js';
import { NamedList } from './bulk-preview.js';
import { formatCount } from '../../../components/counts.js';

const describeResult = ({ total, done, failed }: ChangeProgress, isUndo: boolean): string => {
  const notSent = total - done.length - failed.length;
  const parts = [
    `${formatCount(done.length, 'workspace')} ${isUndo ? 'changed back' : 'changed'}`,
    ...(failed.length > 0 ? [`${failed.length.toLocaleString()} failed`] : []),
    ...(notSent > 0 ? [`${notSent.toLocaleString()} not sent`] : []),
  ];
  return `${parts.join(', ')}.`;
};

type ProgressProps = {
  readonly progress: ChangeProgress;
  readonly isUndo: boolean;
  readonly isRunning: boolean;
  readonly isStopping: boolean;
  readonly onStop: () => void;
  readonly onUndo: () => void;
  /** Returns to what was entered. */
  readonly onBack: () => void;
  readonly onClose: () => void;
};

/** How many changes are answered, then the result of all. */
export const BulkProgress = (props: ProgressProps) => {
  const { progress, isUndo, isRunning, isStopping, onStop, onUndo, onBack, onClose } = props;
  const { total, done, failed, isWaiting } = progress;
  const answered = done.length + failed.length;
  return (
    <Stack>
      <Progress value={total === 0 ? 100 : (100 * answered) / total} aria-label="Answered changes" />
      <Text size="sm" role="status">
        {isRunning
          ? `${answered.toLocaleString()} of ${total.toLocaleString()} answered${isWaiting ? '. The server limits requests. The next ones follow later.' : ''}`
          : describeResult(progress, isUndo)}
      </Text>
      {failed.length > 0 && (
        <NamedList
          title={`${formatCount(failed.length, 'workspace')} failed`}
          kind="skip"
          rows={failed.map(({ task: { id, name }, message }) => ({ id, name, text: message }))}
        />
      )}
      <Group justify="flex-end">
        {isRunning ? (
          <Button variant="default" loading={isStopping} onClick={onStop}>
            Stop
          </Button>
        ) : (
          <>
            {!isUndo && done.length > 0 && (
              <Button variant="default" onClick={onUndo}>
                Undo
              </Button>
            )}
            {!isUndo && done.length === 0 && (
              <Button variant="default" onClick={onBack}>
                Back
              </Button>
            )}
            <Button data-autofocus onClick={onClose}>
              Close
            </Button>
          </>
        )}
      </Group>
    </Stack>
  );
};
