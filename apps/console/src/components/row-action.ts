import type { LinkProps } from '@tanstack/react-router';

/** An action of a row of a list: a change that `onClick` makes, or a screen that `link` opens. */
export type RowAction = {
  /** The label, such as `Remove`. */
  readonly action: string;
  /** The name for screen readers, by default the label with the name of the row after it. It begins with the label. */
  readonly label?: string;
  /** Whether the action removes something. */
  readonly isDangerous?: boolean;
  /** Why the person cannot do it. The action stays on the screen. */
  readonly refusal?: string | undefined;
} & (
  | { readonly link: Pick<LinkProps, 'to' | 'params' | 'search'>; readonly onClick?: never }
  | { readonly onClick: () => void; readonly link?: never }
);

export const nameAction = ({ action, label }: RowAction, name: string): string => label ?? `${action} ${name}`;
