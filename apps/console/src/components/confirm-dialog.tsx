import { Stack } from '@mantine/core';
import { Dialog } from './dialog.js';
import { DialogActions } from './dialog-actions.js';
import type { ReactNode } from 'react';
import { FormProblems } from './problems.js';

type ConfirmDialogProps = {
  readonly title: string;
  /** The effect of the change, and the things that stay. */
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
    <Dialog onClose={onClose} title={title}>
      <Stack>
        {children}
        <FormProblems error={error} />
        <DialogActions
          action={action}
          isCancelFocused
          isDangerous
          isPending={isPending}
          onAction={onConfirm}
          onClose={onClose}
        />
      </Stack>
    </Dialog>
  );
};
