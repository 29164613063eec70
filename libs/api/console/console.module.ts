import { Module } from '@nestjs/common';
import { ConsoleController } from './console.controller.js';
import { StartPageController } from './start-page.controller.js';

@Module({ controllers: [ConsoleController, StartPageController] })
export class ConsoleModule {}
