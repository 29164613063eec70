import { Button, Group, Modal, Stack } from '@mantine/core';
import type { ReactNode } from 'react';
import { FormProblems } from './problems.js';

type ConfirmDialogProps = {
  readonly title: string;
  /** What the change does, and what stays. */
  readonly children: ReactNode;
  /** The label of the button that does it. */
  readonly action: string;
  readonly error: Error | null;
  readonly isPending: boolean;
  readonly onConfirm: () => void;
  readonly onClose: () => void;
};

/** A dialog that a person confirms before something is removed. */
export const ConfirmDialog = (props: ConfirmDialogProps) => {
  const { title, children, action, error, isPending, onConfirm, onClose } = props;
  return (
    <Modal opened onClose={onClose} title={title} closeButtonProps={{ 'aria-label': 'Close' }}>
      <Stack>
        {children}
        <FormProblems error={error} />
        <Group justify="flex-end">
          <Button variant="default" data-autofocus onClick={onClose}>
            Cancel
          </Button>
          <Button color="red" loading={isPending} onClick={onConfirm}>
            {action}
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
};
