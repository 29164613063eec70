import { Group, UnstyledButton } from '@mantine/core';
import { describeTag } from './tag-text.js';
import classes from './tag-list.module.css';

type ShownTag = { readonly key: string; readonly value: string; readonly isInherited: boolean };

type TagListProps = {
  readonly tags: readonly ShownTag[];
  readonly canChange: boolean;
  readonly onOpen: (key: string) => void;
};

/** Tags. People with the permission open a dialog with each. */
export const TagList = ({ tags, canChange, onOpen }: TagListProps) => (
  <Group gap={6}>
    {tags.map((tag) => {
      const text = describeTag(tag);
      const look = { className: classes['tag'], 'data-inherited': tag.isInherited || undefined };
      return canChange ? (
        <UnstyledButton
          key={tag.key}
          {...look}
          aria-label={`${text}. Change`}
          aria-haspopup="dialog"
          onClick={() => onOpen(tag.key)}
        >
          {text}
        </UnstyledButton>
      ) : (
        <span key={tag.key} {...look}>
          {text}
        </span>
      );
    })}
  </Group>
);
