import { Button, Tooltip, type ButtonProps } from '@mantine/core';
import { useId } from 'react';
import { useScreenCommand } from '../palette/screen-commands.js';

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
  const id = useId();
  useScreenCommand(isPermitted ? (command ?? null) : null, onClick);
  if (isPermitted) return <Button {...props} onClick={onClick} />;
  return (
    <>
      <Tooltip label={reason} multiline maw={280} events={{ hover: true, focus: true, touch: true }}>
        <Button
          {...props}
          data-disabled
          aria-disabled="true"
          aria-describedby={id}
          onClick={(event) => event.preventDefault()}
        />
      </Tooltip>
      <span id={id} hidden>
        {reason}
      </span>
    </>
  );
};
