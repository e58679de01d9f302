"""All checks, in the order of the documentation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paddlespec.checks import (
    command,
    devices,
    env,
    images,
    launch,
    names,
    network,
    parameters,
    patched_containers,
    places,
    pods,
    policy,
    ports,
    quantities,
    secrets,
    sidecars,
    topology,
    variables,
    volumes,
)

if TYPE_CHECKING:
    from paddlespec.checks import Check, EnvCheck, RoleCheck

CHECKS: tuple[Check, ...] = (
    topology.mode_and_pservers,
    topology.processes_per_replica,
    topology.legacy_settings,
    topology.legacy_passes,
    topology.empty_restart,
    topology.role_names,
    topology.addresses_fit,
    network.own_ports,
    command.around_no_command,
    names.managed_labels,
    pods.annotations_of_pods,
    pods.labels,
    env.allowed,
    env.whole_sources,
    volumes.new_claims,
    volumes.one_source,
    volumes.names,
    volumes.mounts,
    volumes.nested,
    volumes.code_is_seen,
    volumes.shared_claims,
    volumes.sub_paths,
    sidecars.names,
    sidecars.volume_mounts,
    sidecars.images,
    sidecars.commands,
    variables.unset_in_sidecars,
    places.on_a_mount,
    places.output_is_writable,
    places.logs_of_the_launcher,
    places.input_is_output,
    places.policy_needs_output,
    places.clear_spares,
    places.runs_beside_code,
    parameters.used,
    parameters.of_profiles,
    policy.retries,
    policy.durations,
    policy.idle_pservers,
    secrets.in_parameters,
    devices.rdma,
    pods.addresses,
    secrets.in_commands,
    secrets.in_patches,
    patched_containers.second_container,
)

ROLE_CHECKS: tuple[RoleCheck, ...] = (
    names.name_fits,
    quantities.memory,
    quantities.memory_is_set,
    quantities.cpu,
    quantities.limits,
    devices.accelerator,
    devices.extended,
    devices.claims,
    pods.addresses_of_role,
    pods.contexts,
    ports.one_owner,
    pods.labels_of_role,
    pods.security,
    env.whole_sources_of_role,
    env.references,
    images.spelling,
    images.tag,
    images.for_accelerators,
    command.args_without_command,
    command.no_command,
    command.empty_words,
    command.exec_form,
    variables.unset,
    variables.chosen_devices,
    command.fault_tolerance,
    policy.tolerations,
    policy.affinity,
    secrets.in_role_commands,
)

# Roles of `spec.roles` do not train: the launcher and its variables are theirs to choose.
PADDLE_ROLE_CHECKS: tuple[RoleCheck, ...] = (
    devices.gpus_are_used,
    ports.drawn_ports,
    network.variables_agree,
    images.parameter_server,
    launch.launcher,
    launch.launcher_in_ps,
    launch.old_launcher,
    launch.old_process_count,
    launch.launcher_flags,
)

ENV_CHECKS: tuple[EnvCheck, ...] = (
    env.managed,
    env.source,
    env.spelling,
    env.case,
    env.devices,
    secrets.in_env,
)

# Sidecars do not get the variables of Paddle, so they may use their names.
SIDECAR_ENV_CHECKS: tuple[EnvCheck, ...] = (
    env.source,
    env.spelling,
    env.case,
    secrets.in_env,
)
