import { Button, Group } from '@mantine/core';
import { PendingButton } from './pending-button.js';

export type DialogActionsProps = {
  /** The label of the button that does it. */
  readonly action: string;
  readonly onClose: () => void;
  /** Without it, the button submits the form around it. */
  readonly onAction?: () => void;
  readonly cancel?: string;
  /** Whether the button that does nothing has the focus at first. */
  readonly isCancelFocused?: boolean;
  /** By default, while the change is pending. */
  readonly isCancelDisabled?: boolean;
  /** Whether the action removes something. */
  readonly isDangerous?: boolean;
  readonly isDisabled?: boolean;
  readonly isPending: boolean;
};

/** The buttons at the end of a dialog. */
export const DialogActions = ({ action, onClose, onAction, cancel = 'Cancel', ...state }: DialogActionsProps) => (
  <Group justify="flex-end">
    <Button
      variant="default"
      data-autofocus={state.isCancelFocused || undefined}
      disabled={state.isCancelDisabled ?? state.isPending}
      onClick={onClose}
    >
      {cancel}
    </Button>
    <PendingButton
      {...(onAction ? { onClick: onAction } : { type: 'submit' as const })}
      {...(state.isDangerous ? { color: 'red' } : {})}
      disabled={state.isDisabled ?? false}
      isPending={state.isPending}
    >
      {action}
    </PendingButton>
  </Group>
);
