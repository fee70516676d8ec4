;;; hive-history-test.el --- Searching the history, and exporting it  -*- lexical-binding: t; -*-

(require 'hive-test-help)

(require 'hive-history)

(defun hive-history-test-entry (&rest fields)
  "Return an entry with FIELDS."
  (append fields
          (list :kind "prompt" :id (hive-test-id "p") :at "2026-01-31T12:00:00.000Z"
                :agent "Codex-1" :project "demo" :text "Which?" :status "responded" :decision "yes" :by "Ada")))

(defmacro hive-history-test (entries next &rest body)
  "Run BODY while a search yields ENTRIES and NEXT as its cursor."
  (declare (indent 2))
  `(hive-test-with-desk nil
     (save-window-excursion
       (unwind-protect
           (progn
             (hive-test-connect)
             (hive-test-call 'fake/result (list :method "history/search" :result
                                                (list :entries (vconcat ,entries) :next_cursor ,next)))
             ,@body)
         (dolist (name (list hive-history--name "*hive message*" "*hive install*"))
           (when (get-buffer name) (kill-buffer name)))))))

(defun hive-history-test-searches ()
  "Return the params of the searches, oldest first."
  (delq nil (mapcar (lambda (record) (plist-get (plist-get record :called) :params)) (hive-test-state))))

(defun hive-history-test-shown (regexp)
  "Wait until REGEXP is shown."
  (hive-test-wait 5 (string-match-p regexp (buffer-string))))

(ert-deftest hive-history-searches-filters-and-pages ()
  (hive-history-test (list (hive-history-test-entry :source "fork" :text "Drop %s\u202E it?")
                           (hive-history-test-entry :kind "message" :text "hello" :status nil :decision nil))
      "c-1"
    (hive-history "drop")
    ;; In a narrow window, the text has the room of the project.
    (hive-history-test-shown "\\[fork] Codex-1 +answered +Drop %s<U\\+202E> it\\?  → yes (Ada)")
    (cl-letf (((symbol-function 'hive-wrap-room) (lambda () 100)))
      (setq tabulated-list-sort-key '("Project"))
      (hive-history--print)
      (should (string-match-p "\\[fork] Codex-1 +demo +answered +Drop" (buffer-string))))
    (hive-history--print)
    (should-not tabulated-list-sort-key)
    (hive-history-test-shown "message +hello")
    (should (equal " 2+" mode-line-process))
    (should (equal " only text \"drop\"" header-line-format))
    (hive-test-with-inputs (list "Codex-1") (call-interactively #'hive-history-by-agent))
    (hive-test-with-inputs (list "2026-01-01") (call-interactively #'hive-history-since))
    (hive-history-test-shown "hello")
    (let ((search (car (last (hive-test-wait 5 (cddr (hive-history-test-searches)))))))
      (should (equal "drop" (plist-get search :query)))
      (should (equal "Codex-1" (plist-get search :agent)))
      (should (string-match-p "\\`\\(2025-12-31\\|2026-01-01\\)T" (plist-get search :since))))
    (should (equal " only agent Codex-1, since 2026-01-01 00:00, text \"drop\"" header-line-format))
    (hive-history-older)
    (hive-test-wait 5 (= 4 (length hive-history--entries)))
    (should (equal "c-1" (plist-get (car (last (hive-history-test-searches))) :cursor)))
    (hive-history-by-nothing)
    (should (equal " only text \"drop\"" header-line-format))
    (hive-history "")
    (should-not (string-search "only" (format "%s" header-line-format)))))

(ert-deftest hive-history-shows-a-long-text-where-it-hides-no-count ()
  (hive-history-test (list (hive-history-test-entry)) nil
    (let ((text (concat (make-string 150 ?x) " %s")))
      (hive-history text)
      (hive-history-test-shown "Which")
      (hive-history-by-agent "Codex-1")
      (should (equal " 0" mode-line-process))
      (should (equal (concat " only agent Codex-1, text \"" (string-replace "%" "%%" text) "\"") header-line-format)))))

(ert-deftest hive-history-keeps-its-limits-in-its-buffer-only ()
  (hive-history-test (list (hive-history-test-entry)) nil
    (cl-flet ((searched (query count)
                (hive-history query)
                (hive-test-wait 5 (= count (length (hive-history-test-searches))))
                (plist-get (car (last (hive-history-test-searches))) :agent)))
      (hive-history "drop")
      (hive-history-by-agent "Codex-1")
      (hive-test-wait 5 (= 2 (length (hive-history-test-searches))))
      (should (equal "Codex-1" (searched "table" 3)))
      (with-temp-buffer (should-not (searched "" 4))))))

(ert-deftest hive-history-offers-agents-by-title-and-searches-for-their-handle ()
  (hive-history-test (list (hive-history-test-entry :agent "Codex-1" :agent_title "tests")) nil
    (hive-history "drop")
    (hive-history-test-shown "tests")
    (hive-test-with-inputs (list "tests") (call-interactively #'hive-history-by-agent))
    (should (equal "Codex-1" (plist-get (car (last (hive-test-wait 5 (cdr (hive-history-test-searches))))) :agent)))
    (hive-test-wait 5 (string-match-p "agent tests" (format "%s" header-line-format)))))

(ert-deftest hive-history-ret-opens-questions-and-messages ()
  (hive-history-test (list (hive-history-test-entry :kind "message" :text "whole\ntext" :status nil :decision nil)
                           (hive-history-test-entry :id "way" :agent_title "tests"))
      nil
    (hive-test-call 'fake/ask '(:ask_id "way" :status "responded" :question "Which way, in full?" :decision "yes"))
    (hive-history "")
    (hive-history-test-shown "Which")
    (goto-char (point-min))
    (save-window-excursion
      (hive-history-open)
      (should (string-match-p "whole\ntext" (buffer-string))))
    (forward-line 1)
    (hive-history-open)
    (should (equal "*hive: tests – Which?*" (buffer-name)))
    (hive-history-test-shown "Which way, in full\\?")
    (kill-buffer)
    ;; Opening it from the history does not count as seen.
    (should-not (cl-some (lambda (record) (plist-get record :seen)) (hive-test-state)))
    (should-error (hive-history-older) :type 'user-error)))

(ert-deftest hive-history-point-stays-on-an-entry-that-was-answered-since ()
  (let ((search (lambda (&rest fields)
                  (list :entries (vector (hive-history-test-entry :id "p1" :text "First?")
                                         (append fields (hive-history-test-entry :id "p2" :text "Second?")))
                        :next_cursor nil))))
    (hive-history-test nil nil
      (hive-test-call 'fake/result (list :method "history/search"
                                         :result (funcall search :status "pending" :decision nil)))
      (hive-history "")
      (hive-history-test-shown "pending +Second")
      (goto-char (point-min))
      (forward-line 1)
      (hive-test-call 'fake/result (list :method "history/search" :result (funcall search)))
      (hive-history-again)
      (hive-history-test-shown "answered +Second")
      (should (looking-at-p ".*Second")))))

(ert-deftest hive-history-moments-are-dates-or-ages ()
  (should (equal "" (hive-history--moment " ")))
  (should-error (hive-history--moment "yesterday") :type 'user-error)
  (dolist (day '("2026-02-31" "2026-13-45" "2026-00-10" "2025-02-29"))
    (should (string-match-p (concat "There is no day " day)
                            (cadr (should-error (hive-history--moment day) :type 'user-error)))))
  (dolist (age '("9999999999w" "99999999999999999999d"))
    (should (string-match-p (concat age " ago is before 1970")
                            (cadr (should-error (hive-history--moment age) :type 'user-error)))))
  (should (hive-history--moment "2024-02-29"))
  (cl-letf (((symbol-function 'hive-now) (lambda () 1800007200.0)))
    (should (equal 1800000000.0 (hive-text-seconds (hive-history--moment "2h"))))))

(ert-deftest hive-history-export-keeps-text-of-agents-literal ()
  (let ((entries (list (hive-history-test-entry
                        :agent "A`1" :text "* no heading\n#+begin_src emacs-lisp\n(evil)\n[[file:x]]" :decision "* yes\nno")
                       (hive-history-test-entry :status "expired" :decision nil))))
    (let ((org (hive-history-export-text entries t)) (md (hive-history-export-text entries nil)))
      (should (= 2 (cl-count-if (lambda (line) (string-prefix-p "*" line)) (split-string org "\n"))))
      (should (string-match-p "^: #\\+begin_src" org))
      (should (string-match-p "^Ada:\n: \\* yes\n: no$" org))
      (should (string-match-p "^/expired/$" org))
      (should (string-match-p "^## [-0-9: ]+ `A'1`$" md))
      (should (string-match-p "^    \\* no heading\n    #\\+begin" md))
      (should (string-match-p "^\\*expired\\*$" md)))))

(ert-deftest hive-history-export-says-which-answer-came-late ()
  (let ((entries (list (hive-history-test-entry) (hive-history-test-entry :status "expired"))))
    (dolist (org '(t nil))
      (let ((text (hive-history-export-text entries org)))
        (should (string-match-p "^\\(→ `\\)?Ada`?:$" text))
        (should (string-match-p "^\\(→ `\\)?Ada, late`?:$" text))))))

(ert-deftest hive-history-exports-every-page-into-a-file ()
  (hive-history-test (list (hive-history-test-entry :text "One?")) nil
    (let ((file (expand-file-name "out.org" hive-test-temp)))
      (hive-history "")
      (hive-history-export file)
      (hive-test-wait 5 (file-exists-p file))
      (hive-test-wait 5 (> (file-attribute-size (file-attributes file)) 0))
      (with-temp-buffer
        (insert-file-contents file)
        (should (string-match-p "\\`\\* 2026-01-31 .* Codex-1: One\\?\n: One\\?\n" (buffer-string)))))))

(ert-deftest hive-history-says-so-if-a-file-lacks-older-entries ()
  (hive-history-test (list (hive-history-test-entry) (hive-history-test-entry)) "c-1"
    (let ((hive-history--export-most 3) (file (expand-file-name "out.md" hive-test-temp)) (said nil))
      (cl-letf (((symbol-function 'hive-announce)
                 (lambda (&rest words) (setq said (apply #'hive-words words)))))
        (hive-history-export-write nil file)
        (hive-test-wait 5 said))
      (should (string-match-p "\\`Wrote the newest 4 entries to .*out\\.md; older ones are not in it" said)))))

;;;; Installing

(defmacro hive-install-test-with (programs &rest body)
  "Run BODY with a PATH that has only PROGRAMS, each (NAME . SCRIPT), and what a shell needs."
  (declare (indent 1))
  `(let* ((bin (file-name-as-directory (expand-file-name "bin" hive-test-temp)))
          (process-environment (cons (concat "PATH=" bin ":/usr/bin:/bin") process-environment))
          (exec-path (cons bin exec-path)))
     (make-directory bin)
     (pcase-dolist (`(,name . ,script) ,programs)
       (with-temp-file (concat bin name) (insert "#!/bin/sh\n" script))
       (set-file-modes (concat bin name) #o755))
     ,@body))

(ert-deftest hive-install-fetches-visibly-and-starts-what-it-installed ()
  (hive-test-with-desk nil
    (save-window-excursion
      (hive-install-test-with
          `(("npm" . ,(concat "echo \"npm got: $*\"\nmkdir package\ntar -czf x.tgz package\n"))
            ("node" . ,(concat
                        "shift\necho \"hive got: $*\"\nmkdir -p \"$3/bin\" \"$3/current\"\n"
                        "printf '#!/bin/sh\\nexec " (executable-find "node") " "
                        hive-test-fake "\\n' > \"$3/bin/hive\"\nchmod +x \"$3/bin/hive\"\n")))
        (setq hive-sidecar-command nil)
        (hive-test-hearing said
          (hive-install-sidecar "a package; touch evil")
          (hive-test-wait 10 (cdr said))
          (should (equal '("Installing Hive from a package; touch evil" "Hive is installed")
                         (nreverse said))))
        (with-current-buffer "*hive install*"
          (should (derived-mode-p 'compilation-mode))
          (should (string-match-p "npm got: pack --silent a package; touch evil" (buffer-string)))
          (should (string-match-p "hive got: install --to .*installed$"
                                  (buffer-string))))
        (should (equal (list (hive-program-installed) "sidecar") (hive-program-command)))
        (hive-test-connect)
        (kill-buffer "*hive install*")))))

(ert-deftest hive-install-takes-a-release-file-then-a-clone-then-the-registry ()
  (hive-test-with-desk nil
    (let* ((hive-program-directory (expand-file-name "clone/elisp/" hive-test-temp))
           (clone (expand-file-name "clone" hive-test-temp))
           (make (lambda (name)
                   (let ((file (expand-file-name name clone)))
                     (make-directory (file-name-directory file) t)
                     (write-region "" nil file)
                     file))))
      (make-directory hive-program-directory t)
      (should (equal "hive-sidecar@latest" (hive-doctor--install-origin)))
      (mapc make '("package.json" "bin/hive"))
      (should (equal clone (hive-doctor--install-origin)))
      (should (string-prefix-p (concat "exec </dev/null; node " clone "/bin/hive install --to")
                               (hive-doctor--install-command clone)))
      (funcall make "scripts/run.mjs")
      (should (string-prefix-p (concat "exec </dev/null; npm --prefix " clone " run --silent install-hive -- --to")
                               (hive-doctor--install-command clone)))
      (funcall make "release/hive-sidecar-0.9.0.tgz")
      (let ((newest (funcall make "release/hive-sidecar-0.10.0.tgz")))
        (should (equal newest (hive-doctor--install-origin)))
        (should (string-search (concat "tar -xzf " newest " && node package/bin/hive install")
                               (hive-doctor--install-command newest)))))))

(ert-deftest hive-install-in-the-usual-directory-makes-the-command-too ()
  (let ((hive-install-directory (eval (car (get 'hive-install-directory 'standard-value)) t)))
    (should-not (string-search "--to" (hive-doctor--install-command "hive-sidecar@latest")))))

(ert-deftest hive-install-that-fails-says-where-to-look ()
  (hive-test-hearing said
    (with-temp-buffer
      (hive-doctor--install-done (current-buffer) "exited abnormally with code 1\n"))
    (should (string-match-p "was not installed" (car said)))))
