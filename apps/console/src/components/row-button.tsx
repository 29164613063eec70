import { Button } from '@mantine/core';
import { PermittedButton } from './permitted-button.js';

type RowButtonProps = {
  readonly action: string;
  /** The name of the row. Screen readers read it after the action. */
  readonly name: string;
  /** Whether the action removes something. */
  readonly isDangerous?: boolean;
  readonly onClick: () => void;
};

const getLook = ({ action, name, isDangerous = false }: RowButtonProps) =>
  ({
    size: 'compact-sm',
    'aria-label': `${action} ${name}`,
    ...(isDangerous ? { variant: 'subtle', color: 'red' } : { variant: 'default' }),
  }) as const;

/** A button of one row of a list, such as `Remove`. */
export const RowButton = (props: RowButtonProps) => (
  <Button {...getLook(props)} onClick={props.onClick}>
    {props.action}
  </Button>
);

type PermittedRowButtonProps = RowButtonProps & { readonly isPermitted: boolean; readonly reason: string };

/** A button of one row that stays on the screen without the permission. */
export const PermittedRowButton = ({ isPermitted, reason, ...props }: PermittedRowButtonProps) => (
  <PermittedButton {...getLook(props)} isPermitted={isPermitted} reason={reason} onClick={props.onClick}>
    {props.action}
  </PermittedButton>
);
