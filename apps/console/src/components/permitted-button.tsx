import { Button, type ButtonProps } from '@mantine/core';
import { lazyComponent } from './lazy-component.js';
import { useScreenCommand } from './screen-commands.js';

/** Its tooltip is 23 kB, which people with the permission do not need. */
const RefusedButton = lazyComponent(() => import('./refused-button.js'), 'RefusedButton');

type PermittedButtonProps = ButtonProps & {
  readonly isPermitted: boolean;
  /** The obstacle, if the person cannot press the button: the permission that is missing, or the state that forbids it. */
  readonly reason: string;
  /** The name of the button in the palette, if the palette lists it for people with the permission. */
  readonly command?: string;
  readonly onClick: () => void;
};

/**
 * A button for people with a permission. Without it, the button stays on the screen and can have the focus, and describes
 * what is missing.
 */
export const PermittedButton = ({ isPermitted, reason, command, onClick, ...props }: PermittedButtonProps) => {
  useScreenCommand(isPermitted ? (command ?? null) : null, onClick);
  return isPermitted ? <Button {...props} onClick={onClick} /> : <RefusedButton {...props} reason={reason} />;
};
