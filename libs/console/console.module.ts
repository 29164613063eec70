import { Module } from '@nestjs/common';
import { ConsoleController, StartPageController } from './console.controller.js';

@Module({ controllers: [ConsoleController, StartPageController] })
export class ConsoleModule {}
