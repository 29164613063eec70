import { Menu, useMantineColorScheme, type MantineColorScheme } from '@mantine/core';
import { CheckIcon } from '../components/icons.js';
import { COLOR_SCHEMES } from './color-schemes.js';
import type { MenuProps } from '../components/menu-button.js';

export const ColorSchemeMenu = ({ children }: MenuProps) => {
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  return (
    <Menu defaultOpened withinPortal={false} position="bottom-end" width={180} checkIcon={<CheckIcon size={14} />}>
      <Menu.Target>{children}</Menu.Target>
      <Menu.Dropdown>
        <Menu.RadioGroup value={colorScheme} onChange={(value) => setColorScheme(value as MantineColorScheme)}>
          {COLOR_SCHEMES.map(({ value, label }) => (
            <Menu.RadioItem key={value} value={value} closeMenuOnClick>
              {label}
            </Menu.RadioItem>
          ))}
        </Menu.RadioGroup>
      </Menu.Dropdown>
    </Menu>
  );
};
