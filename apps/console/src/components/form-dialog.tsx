import { Stack } from '@mantine/core';
import type { ReactNode, SyntheticEvent } from 'react';
import { Dialog } from './dialog.js';
import { DialogActions, type DialogActionsProps } from './dialog-actions.js';
import { FormProblems } from './problems.js';

type FormDialogProps = Pick<DialogActionsProps, 'action' | 'cancel' | 'isDangerous' | 'isDisabled' | 'isPending'> & {
  readonly title: string;
  readonly size?: 'lg';
  /** What the person reads before the fields. */
  readonly intro?: ReactNode;
  readonly error: Error | null;
  /** The fields that show their own problems. */
  readonly fields?: readonly string[];
  readonly children: ReactNode;
  readonly onSubmit: () => void;
  readonly onClose: () => void;
};

/** A dialog with the fields of one change. The Enter key and the button `action` send it. */
export const FormDialog = (props: FormDialogProps) => {
  const { title, size, intro, error, fields, children, onSubmit, onClose, ...actions } = props;
  const submit = (event: SyntheticEvent) => {
    event.preventDefault();
    onSubmit();
  };
  return (
    <Dialog onClose={onClose} title={title} {...(size ? { size } : {})}>
      <form onSubmit={submit}>
        <Stack>
          {intro}
          <FormProblems error={error} {...(fields ? { fields } : {})} />
          {children}
          <DialogActions {...actions} onClose={onClose} />
        </Stack>
      </form>
    </Dialog>
  );
};
