import { Button, type ButtonProps } from '@mantine/core';
import type { ComponentProps, MouseEvent } from 'react';

type PendingButtonProps = ButtonProps & {
  readonly isPending: boolean;
  readonly type?: 'submit';
  readonly onClick?: () => void;
};

const PENDING = {
  loading: true,
  onClick: (event: MouseEvent) => event.preventDefault(),
  renderRoot: (props: ComponentProps<'button'>) => <button {...props} disabled={false} aria-disabled="true" />,
};

/** A button that ignores clicks while its change is pending. It keeps the focus, which a disabled button would lose. */
export const PendingButton = ({ isPending, ...props }: PendingButtonProps) => (
  <Button loading={false} {...props} {...(isPending ? PENDING : {})} />
);
