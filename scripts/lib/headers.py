"""What the toolkit's headers say of the driver API: every exported name, its parameters, and the objects that they reach."""
import re
import subprocess

# What a handle is to Reprise. Whatever is not here and no structure with one of these in it is no object.
HANDLES = {
    'CUstream': 'STREAM', 'CUstreamCaptureMode': 'STREAM', 'CUevent': 'EVENT',
    'CUgraph': 'GRAPH', 'CUgraphNode': 'GRAPH', 'CUgraphExec': 'GRAPH', 'CUgraphConditionalHandle': 'GRAPH', 'CUuserObject': 'GRAPH',
    'CUfunction': 'FUNCTION', 'CUkernel': 'FUNCTION', 'CUmodule': 'MODULE', 'CUlibrary': 'MODULE', 'CUlinkState': 'MODULE',
    'CUcontext': 'CONTEXT', 'CUgreenCtx': 'CONTEXT',
    'CUdeviceptr': 'MEMORY', 'CUdeviceptr_v1': 'MEMORY', 'CUmemoryPool': 'MEMORY', 'CUmemGenericAllocationHandle': 'MEMORY',
    'CUexternalMemory': 'MEMORY', 'CUgraphicsResource': 'MEMORY',
    'CUarray': 'ARRAY', 'CUmipmappedArray': 'ARRAY', 'CUtexref': 'ARRAY', 'CUsurfref': 'ARRAY', 'CUtexObject': 'ARRAY', 'CUsurfObject': 'ARRAY',
}

# What a name alone says, where no parameter does: the current context, host memory behind a void *.
FAMILIES = {
    'STREAM': r'^cuStream|CaptureMode', 'EVENT': r'^cuEvent|EventHandle', 'GRAPH': r'^cuGraph(?!ics)|^cuUserObject|GraphMem',
    'FUNCTION': r'^cuFunc|^cuKernel|^cuOccupancy', 'MODULE': r'^cuModule|^cuLibrary|^cuLink',
    'CONTEXT': r'^cuCtx|Ctx|^cuCoredump[GS]etAttribute(?!Global)|^cuProfilerSt',
    'HOST': r'HtoD|DtoH|HtoA|AtoH|AllocHost|FreeHost|MemHost',
    'MEMORY': r'^cuMem|^cuMulticast|^cuPointer|^cuIpc\w*Mem', 'ARRAY': r'^cuArray|^cuMipmappedArray|^cuTex|^cuSurf',
}

PROTOTYPE = re.compile(r'\bCUresult\s+(?:CUDAAPI\s+)?(cu[A-Z]\w*)\s*\(([^;{}]*?)\)\s*;', re.S)
RENAMED = re.compile(r'^\s*#define\s+cu[A-Z]\w*\s+(?:__CUDA_API_(PTDS|PTSZ)\()?(cu[A-Z]\w*)', re.M)
HOST_POINTER = re.compile(r'\bvoid\s*\*+\s*\w*[hH]ost\w*')


class Headers:
    """`declared` has name -> parameters (None where only the name is there to be read); `version` is CUDA_VERSION."""

    def __init__(self, include, compiler):
        self.text = preprocessed(include, compiler)
        self.version = int(re.search(r'define\s+CUDA_VERSION\s+(\d+)', (include / 'cuda.h').read_text(errors='replace')).group(1))
        self.declared = {name: parameters_of(text) for name, text in PROTOTYPE.findall(self.text)}
        # The graphics headers need headers of others to be compiled, so they are read as they are.
        for header in ('cudaGL.h', 'cudaEGL.h', 'cudaVDPAU.h'):
            path = include / header
            self.read_graphics(path.read_text(errors='replace') if path.exists() else '')
        self.structures = dict(structures(self.text))
        self.known = {}

    def read_graphics(self, text):
        for name, parameters in PROTOTYPE.findall(text):
            if 'WGL' not in name:
                self.declared.setdefault(name, parameters_of(parameters))
        for form, name in RENAMED.findall(text):
            self.declared.setdefault(name, None)
            if form:
                self.declared.setdefault(f'{name}_{form.lower()}', None)

    def types_of(self, name):
        """The types of a name's parameters, without const and the parameters' names; None if they cannot be read."""
        parameters = self.declared.get(name)
        return None if parameters is None else [type_of(parameter) for parameter in parameters]

    def objects_of(self, name):
        """The objects that a call may reach: by its name, its parameters, and what is in the structures that these point to."""
        reached = {kind for kind, family in FAMILIES.items() if re.search(family, name)}
        for parameter in self.declared.get(name) or ():
            reached |= self.objects_in(parameter)
        return reached

    def objects_in(self, text):
        reached = {'HOST'} if HOST_POINTER.search(text) else set()
        for word in set(re.findall(r'\w+', text)):
            if word in HANDLES:
                reached.add(HANDLES[word])
            elif word in self.structures:
                if word not in self.known:
                    self.known[word] = set()  # so that a structure that names itself comes to an end
                    self.known[word] = self.objects_in(self.structures[word])
                reached |= self.known[word]
        return reached


def preprocessed(include, compiler):
    """cuda.h declares every exported name as itself once __CUDA_API_VERSION_INTERNAL is defined."""
    source = '#include <cuda.h>\n#if __has_include(<cudaProfiler.h>)\n#include <cudaProfiler.h>\n#endif\n'
    return subprocess.run([*compiler, '-E', '-P', '-D__CUDA_API_VERSION_INTERNAL', f'-I{include}', '-xc', '-'], input=source,
                          capture_output=True, text=True, check=True).stdout


def parameters_of(text):
    text = re.sub(r'\s+', ' ', text).strip()
    return [] if text in ('', 'void') else [parameter.strip() for parameter in text.split(',')]


def type_of(parameter):
    words = re.sub(r'\bconst\b|\bCUDAAPI\b', ' ', parameter).replace('*', ' * ').split()
    if len(words) > 1 and words[-1] not in ('*', 'int', 'float'):
        words.pop()
    return ' '.join(words)


def structures(text):
    """(name, what is between its braces, or what it is another name of) for every structure, union and alias."""
    for found in re.finditer(r'\btypedef\s+(?:struct|union)\s+\w*\s*\{', text):
        depth, at = 1, found.end()
        while depth:
            depth += {'{': 1, '}': -1}.get(text[at], 0)
            at += 1
        for name in re.findall(r'\w+', text[at:text.index(';', at)]):
            yield name, text[found.end():at]
    for known, name in re.findall(r'\btypedef\s+(?:struct\s+|union\s+)?(\w+)\s+(\w+)\s*;', text):
        if known != name and not known.endswith('_st') and name not in HANDLES:
            yield name, known
