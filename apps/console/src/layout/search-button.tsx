import { Kbd, UnstyledButton } from '@mantine/core';
import { SearchIcon } from '../components/icons.js';
import { getModifierName } from '../shortcuts/modifier.js';
import classes from './layout.module.css';

/** Opens the command palette. */
export const SearchButton = ({ onOpen }: { readonly onOpen: () => void }) => (
  <UnstyledButton
    className={classes['search']}
    onClick={onOpen}
    aria-label="Search and commands"
    aria-haspopup="dialog"
  >
    <SearchIcon size={16} />
    <span>Search or run a command</span>
    <Kbd size="xs">{getModifierName()} K</Kbd>
  </UnstyledButton>
);
