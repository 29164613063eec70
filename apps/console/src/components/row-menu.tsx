import { Menu, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useId, useRef } from 'react';
import type { MenuProps } from './menu-button.js';
import { nameAction, type RowAction } from './row-action.js';

type RowMenuProps = MenuProps & {
  readonly name: string;
  readonly actions: readonly RowAction[];
};

type ItemProps = { readonly name: string; readonly action: RowAction; readonly onChoose: () => void };

/** It describes why the person cannot choose it, if so. */
const RowMenuItem = ({ name, action, onChoose }: ItemProps) => {
  const id = useId();
  const { action: label, isDangerous = false, refusal, link } = action;
  const look = {
    'aria-label': nameAction(action, name),
    ...(isDangerous ? { color: 'red' } : {}),
  };
  if (refusal !== undefined) {
    return (
      <Menu.Item {...look} data-disabled aria-disabled="true" aria-describedby={id} closeMenuOnClick={false}>
        {label}
        <Text size="xs" id={id}>
          {refusal}
        </Text>
      </Menu.Item>
    );
  }
  if (link) {
    return (
      <Menu.Item {...look} renderRoot={(props) => <Link {...props} {...link} />}>
        {label}
      </Menu.Item>
    );
  }
  return (
    <Menu.Item {...look} onClick={onChoose}>
      {label}
    </Menu.Item>
  );
};

/** The actions of a row that have no button. */
export const RowMenu = ({ name, actions, children }: RowMenuProps) => {
  const dropdown = useRef<HTMLDivElement>(null);
  const choose = (run: (() => void) | undefined) => {
    // The focus then returns to the button, and not to the item, when the dialog closes that the item opens.
    document.getElementById(dropdown.current?.getAttribute('aria-labelledby') ?? '')?.focus();
    run?.();
  };
  return (
    // A table cuts off what is outside of it.
    <Menu defaultOpened position="bottom-end" portalProps={{ target: '#content' }}>
      <Menu.Target>{children}</Menu.Target>
      <Menu.Dropdown ref={dropdown} maw={300}>
        {actions.map((action) => (
          <RowMenuItem key={action.action} name={name} action={action} onChoose={() => choose(action.onClick)} />
        ))}
      </Menu.Dropdown>
    </Menu>
  );
};
