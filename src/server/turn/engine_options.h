/* engine_options.h - what the settings of a server mean to its engine. */
#pragma once
#include "engine/core/engine.h"
#include "server/config/options.h"

struct zones;

struct engine_options engine_options_of(const struct server_options *options, struct zones *zones);
