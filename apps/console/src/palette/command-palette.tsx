import {
  useEffect,
  useEffectEvent,
  useId,
  useLayoutEffect,
  useRef,
  useState,
  type KeyboardEvent,
  type ReactNode,
} from 'react';
import { Dialog } from '../components/dialog.js';
import { SearchIcon } from '../components/icons.js';
import { takeEarlyKeys } from '../shortcuts/early-keys.js';
import type { Command } from '../components/command.js';
import { useCommands } from './commands.js';
import classes from './command-palette.module.css';

const LABEL = 'Search and commands';

/** Returns the option to which a key moves, or null for other keys. The list has no end: the first follows the last. */
const moveByKey = (key: string, from: number, count: number): number | null => {
  if (key === 'ArrowDown') return (from + 1) % count;
  if (key === 'ArrowUp') return (from - 1 + count) % count;
  return null;
};

type OptionProps = {
  readonly id: string;
  readonly command: Command;
  readonly isActive: boolean;
  readonly onPoint: () => void;
  readonly onRun: () => void;
};

const Option = ({ id, command: { label, icon: Icon }, isActive, onPoint, onRun }: OptionProps) => {
  const element = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    if (isActive) element.current?.scrollIntoView({ block: 'nearest' });
  }, [isActive]);
  return (
    <button
      ref={element}
      type="button"
      id={id}
      role="option"
      tabIndex={-1}
      aria-selected={isActive}
      className={classes['option']}
      onMouseMove={onPoint}
      onClick={onRun}
    >
      <Icon size={18} />
      <span className={classes['label']}>{label}</span>
    </button>
  );
};

type GroupProps = { readonly label: string; readonly children: ReactNode };

const OptionGroup = ({ label, children }: GroupProps) => (
  <div role="group" aria-label={label}>
    <div className={classes['group']} aria-hidden>
      {label}
    </div>
    {children}
  </div>
);

type PaletteProps = { readonly organization: string | null; readonly onClose: () => void };

type FieldProps = {
  readonly id: string;
  readonly organization: string | null;
  readonly query: string;
  /** The id of the active option, if there is one. */
  readonly active: string | undefined;
  readonly onQuery: (query: string) => void;
  readonly onKeyDown: (event: KeyboardEvent) => void;
};

/** Gives the field the focus at once, and the text that was typed before the field was there. */
const useEarlyKeys = (onQuery: (query: string) => void) => {
  const input = useRef<HTMLInputElement>(null);
  const enter = useEffectEvent(onQuery);
  useLayoutEffect(() => {
    input.current?.focus();
    enter(takeEarlyKeys());
  }, []);
  return input;
};

/** The focus stays in the field. Arrow keys move through the options (the combobox of the ARIA authoring practices). */
const SearchField = ({ id, organization, query, active, onQuery, onKeyDown }: FieldProps) => (
  <div className={classes['search']}>
    <SearchIcon />
    <input
      ref={useEarlyKeys(onQuery)}
      data-autofocus
      role="combobox"
      aria-label={LABEL}
      aria-expanded={active !== undefined}
      aria-controls={`${id}-list`}
      aria-autocomplete="list"
      aria-activedescendant={active}
      placeholder={organization === null ? 'Search organizations and commands' : `Search in ${organization}`}
      autoComplete="off"
      spellCheck={false}
      value={query}
      onChange={(event) => onQuery(event.currentTarget.value)}
      onKeyDown={onKeyDown}
    />
  </div>
);

type ResultsProps = {
  readonly id: string;
  readonly groups: readonly (readonly [string, readonly Command[]])[];
  /** The number of the active option. */
  readonly active: number;
  readonly onPoint: (position: number) => void;
  readonly onRun: (command: Command) => void;
};

const Results = ({ id, groups, active, onPoint, onRun }: ResultsProps) => {
  const commands = groups.flatMap(([, members]) => members);
  return (
    <>
      <div id={`${id}-list`} role="listbox" aria-label="Results" className={classes['list']}>
        {groups.map(([group, members]) => (
          <OptionGroup key={group} label={group}>
            {members.map((command) => {
              const position = commands.indexOf(command);
              return (
                <Option
                  key={command.label}
                  id={`${id}-${position}`}
                  command={command}
                  isActive={position === active}
                  onPoint={() => onPoint(position)}
                  onRun={() => onRun(command)}
                />
              );
            })}
          </OptionGroup>
        ))}
      </div>
      <p role="status" className={classes['empty']}>
        {commands.length === 0 && 'Nothing matches'}
      </p>
    </>
  );
};

const Palette = ({ organization, onClose }: PaletteProps) => {
  const id = useId();
  const [query, setQuery] = useState('');
  const [active, setActive] = useState(0);
  const groups = [...useCommands(organization, query)];
  const commands = groups.flatMap(([, members]) => members);
  const index = Math.min(active, commands.length - 1);
  const run = (command: Command | undefined) => {
    if (!command) return;
    onClose();
    command.run();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    // Enter that ends the input of a character is no choice.
    if (event.nativeEvent.isComposing) return;
    if (event.key === 'Enter') run(commands[index]);
    const next = commands.length > 0 ? moveByKey(event.key, index, commands.length) : null;
    if (next === null) return;
    event.preventDefault();
    setActive(next);
  };
  const search = (text: string) => {
    setQuery(text);
    setActive(0);
  };
  return (
    <>
      <SearchField
        id={id}
        organization={organization}
        query={query}
        active={commands.length > 0 ? `${id}-${index}` : undefined}
        onQuery={search}
        onKeyDown={onKeyDown}
      />
      <Results id={id} groups={groups} active={index} onPoint={setActive} onRun={run} />
    </>
  );
};

/** Searches screens and resources of the organization, and runs commands. */
export const CommandPalette = (props: PaletteProps) => (
  <Dialog
    onClose={props.onClose}
    withCloseButton={false}
    padding={0}
    size="lg"
    yOffset="10vh"
    transitionProps={{ duration: 0 }}
    attributes={{ content: { 'aria-label': LABEL } }}
  >
    <Palette {...props} />
  </Dialog>
);
