import { ActionIcon, Button, Group } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { lazy } from 'react';
import { MoreIcon } from './icons.js';
import { MenuButton } from './menu-button.js';
import { PermittedButton } from './permitted-button.js';
import { nameAction, type RowAction } from './row-action.js';

const RowMenu = lazy(async () => ({ default: (await import('./row-menu.js')).RowMenu }));

export type RowActionsProps = {
  /** The name of the row. Screen readers read it after each action. */
  readonly name: string;
  /** The first one has a button. The others are in a menu. */
  readonly actions: readonly RowAction[];
};

const RowActionButton = ({ name, action }: { readonly name: string; readonly action: RowAction }) => {
  const { action: label, isDangerous = false, refusal, link, onClick } = action;
  const look = {
    size: 'compact-sm',
    'aria-label': nameAction(action, name),
    ...(isDangerous ? { variant: 'subtle', color: 'red' } : { variant: 'default' }),
  } as const;
  if (link) {
    return (
      <Button {...look} renderRoot={(props) => <Link {...props} {...link} />}>
        {label}
      </Button>
    );
  }
  return (
    <PermittedButton {...look} isPermitted={refusal === undefined} reason={refusal ?? ''} onClick={onClick}>
      {label}
    </PermittedButton>
  );
};

/** The actions of a row: a button, and a menu with the rest. */
export const RowActions = ({ name, actions: [first, ...others] }: RowActionsProps) => {
  if (!first) return null;
  return (
    <Group gap={4} wrap="nowrap" justify="flex-end">
      <RowActionButton name={name} action={first} />
      {others.length > 0 && (
        <MenuButton
          button={
            <ActionIcon variant="subtle" color="gray" c="dimmed" size={26} aria-label={`More actions for ${name}`}>
              <MoreIcon size={16} />
            </ActionIcon>
          }
        >
          {(button) => (
            <RowMenu name={name} actions={others}>
              {button}
            </RowMenu>
          )}
        </MenuButton>
      )}
    </Group>
  );
};
