import type { ButtonProps } from '@mantine/core';
import { PlusIcon } from './icons.js';
import { PermittedButton } from './permitted-button.js';

type CreateButtonProps = Pick<ButtonProps, 'size' | 'variant'> & {
  readonly label: string;
  /** The name of the button in the palette. Null: the palette does not list it. */
  readonly command?: string | null;
  /** Undefined until the answer is there. The button then appears. */
  readonly isPermitted: boolean | undefined;
  /** What a person without the permission needs. Without it, everybody who sees the screen has the permission. */
  readonly reason?: string;
  readonly onClick: () => void;
};

/** Opens the dialog that creates or adds something. */
export const CreateButton = ({ label, command = label, isPermitted, reason = '', ...props }: CreateButtonProps) =>
  isPermitted !== undefined && (
    <PermittedButton
      {...props}
      command={command ?? undefined}
      isPermitted={isPermitted}
      reason={reason}
      leftSection={<PlusIcon size={props.size === undefined ? 16 : 14} />}
    >
      {label}
    </PermittedButton>
  );
