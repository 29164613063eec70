import { Button, Group } from '@mantine/core';
import type { ComponentProps, MouseEvent } from 'react';

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

/** A disabled button would lose the focus to the page behind the dialog, so a pending one only ignores clicks. */
const PENDING = {
  loading: true,
  onClick: (event: MouseEvent) => event.preventDefault(),
  renderRoot: (props: ComponentProps<'button'>) => <button {...props} disabled={false} aria-disabled="true" />,
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
    <Button
      {...(onAction ? { onClick: onAction } : { type: 'submit' as const })}
      {...(state.isDangerous ? { color: 'red' } : {})}
      disabled={state.isDisabled ?? false}
      loading={false}
      {...(state.isPending ? PENDING : {})}
    >
      {action}
    </Button>
  </Group>
);
