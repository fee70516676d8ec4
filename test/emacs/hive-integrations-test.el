;;; hive-integrations-test.el --- Bookmarks, desktops, menus and completion  -*- lexical-binding: t; -*-

;;; Commentary:

;; Integrations with Emacs itself.  Packages of others are tried with real keys,
;; in test/editors.

(require 'bookmark)
(require 'desktop)
(require 'hive-integrations)
(require 'hive-list-test-help)
(require 'hive-test-help)
(require 'imenu)
(require 'mouse)
(require 'project)
(require 'repeat)

(defmacro hive-integrations-test (&rest body)
  "Run BODY in a list of two questions of two projects."
  (declare (indent 0))
  `(let ((hive-list-group 'project))
     (hive-list-test-desk '((:ask_id "p1" :created_at "2026-01-01" :question "Ship it?" :agent "reviewer"
                                     :project "shop" :project_dir "/home/ada/shop/.git")
                            (:ask_id "p2" :created_at "2026-01-02" :question "Launch?" :agent "builder"
                                     :project "rocket" :project_dir "/home/ada/rocket/.git"))
       (unwind-protect (progn ,@body)
         (dolist (buffer (buffer-list))
           (when (string-prefix-p "*hive" (buffer-name buffer)) (kill-buffer buffer)))))))

(defun hive-integrations-test-printed (value)
  "Return VALUE as a file would have it: printed and read."
  (car (read-from-string (prin1-to-string value))))

;;;; The view of a buffer

(ert-deftest hive-bookmarks-open-the-list-with-its-filter-and-a-question ()
  (hive-integrations-test
    (hive-list-filter-project "rocket")
    (hive-list-regroup)
    (let ((list (hive-integrations-test-printed (bookmark-make-record)))
          (question (hive-integrations-test-printed
                     (with-current-buffer (hive-prompt-buffer (hive-model-prompt "p1"))
                       (bookmark-make-record)))))
      (kill-buffer "*hive*")
      (with-temp-buffer
        (bookmark-handle-bookmark list)
        (should (derived-mode-p 'hive-list-mode))
        (should (equal "p2" (tabulated-list-get-id)))
        (should (string-match-p "only project rocket" (format "%s" header-line-format)))
        (should (eq 'agent hive-list-group)))
      (with-temp-buffer
        (bookmark-handle-bookmark question)
        (should (derived-mode-p 'hive-prompt-mode))
        (should (string-match-p "Ship it\\?" (buffer-string)))))))

(ert-deftest hive-a-bookmark-of-a-question-that-is-not-known-yet-fetches-it ()
  (hive-integrations-test
    (hive-model-forget)
    (with-current-buffer (hive-view-open '(question "p1"))
      (hive-test-wait 5 (string-match-p "Ship it\\?" (buffer-string))))))

(ert-deftest hive-a-view-runs-no-command-but-those-of-hive ()
  (let ((called nil))
    (cl-letf (((symbol-function 'calendar) (lambda (&rest _) (setq called t))))
      (should-error (hive-view-open '(command calendar)) :type 'user-error))
    (should-not called)))

(ert-deftest hive-a-saved-desktop-restores-its-buffers ()
  (hive-integrations-test
    (hive-list-filter-agent "builder")
    (let ((folder (file-name-as-directory hive-test-temp)) (desktop-save t)
          (desktop-restore-frames nil) (desktop-load-locked-desktop t) (inhibit-message t))
      (desktop-save folder t)
      (kill-buffer "*hive*")
      ;; In batch Emacs it restores nothing.
      (let ((noninteractive nil)) (desktop-read folder))
      (with-current-buffer "*hive*"
        (should (equal "p2" (progn (hive-list--to-first) (tabulated-list-get-id)))))
      (desktop-release-lock folder))))

(ert-deftest hive-a-view-that-is-opened-before-the-sidecar-is-connected-is-fetched-then ()
  (let ((views '((command hive-outreach) (command hive-check-mentions)
                 (history :query "ship")))
        (said nil) (asked nil))
    (hive-test-with-desk nil
      (cl-letf (((symbol-function 'hive-notify-say) (lambda (&rest args) (push args said))))
        (let ((buffers (mapcar #'hive-view-open views)) (request (symbol-function 'hive-rpc-request)))
          (unwind-protect
              (progn
                (should-not said)
                (cl-letf (((symbol-function 'hive-rpc-request)
                           (lambda (method &rest args)
                             (push (list method (current-buffer)) asked)
                             (apply request method args))))
                  (hive-test-connect))
                (cl-loop for method in '(outreach/list mention/list history/search)
                         for buffer in buffers
                         do (should (member (list method buffer) asked))))
            (mapc #'kill-buffer buffers)))))))

;;;; Imenu and context menus

(ert-deftest hive-imenu-lists-sections-and-headings ()
  (hive-integrations-test
    (should (equal '(("shop  1 question" "Ship it?") ("rocket  1 question" "Launch?"))
                   (mapcar (lambda (section) (cons (car section) (mapcar #'car (cdr section))))
                           (funcall imenu-create-index-function))))
    (with-current-buffer (hive-prompt-buffer (hive-model-prompt "p1"))
      (should (member "What happened" (mapcar #'car (funcall imenu-create-index-function)))))))

(ert-deftest hive-the-context-menu-has-the-commands-of-a-question ()
  (hive-integrations-test
    (let ((menu (make-sparse-keymap)) labels)
      (run-hook-wrapped 'context-menu-functions
                        (lambda (function) (when (functionp function)
                                             (setq menu (funcall function menu nil)))
                          nil))
      (map-keymap (lambda (_key item) (when (stringp (nth 1 item)) (push (nth 1 item) labels))) menu)
      (should (member "Answer" labels))
      (should (member "Interrupt The Agent" labels)))))

;;;; Completion, repeat-mode, project.el

(ert-deftest hive-completion-of-questions-has-a-category-groups-and-annotations ()
  (hive-integrations-test
    (let (table)
      (cl-letf (((symbol-function 'completing-read)
                 (lambda (_prompt collection &rest _) (setq table collection) "reviewer: Ship it?")))
        (should (equal "p1" (plist-get (hive-read-prompt (hive-prompts)) :ask_id))))
      (let ((metadata (completion-metadata "" table nil)))
        (should (eq 'hive-question (completion-metadata-get metadata 'category)))
        (should (equal "shop" (funcall (completion-metadata-get metadata 'group-function)
                                       "reviewer: Ship it?" nil)))
        (should (equal "reviewer: Ship it?" (funcall (completion-metadata-get metadata 'group-function)
                                                     "reviewer: Ship it?" t)))
        (should (string-match-p "shop" (nth 2 (car (funcall (completion-metadata-get metadata 'affixation-function)
                                                            '("reviewer: Ship it?"))))))))))

(ert-deftest hive-a-line-of-completion-names-its-question-with-and-without-its-property ()
  (hive-integrations-test
    (let ((line (hive-read-question-line (hive-model-prompt "p2"))))
      (should (equal "p2" (plist-get (hive-read-question-of line) :ask_id)))
      (should (equal "p2" (plist-get (hive-read-question-of (substring-no-properties line)) :ask_id)))
      (should-error (hive-read-question-of "nobody: What?") :type 'user-error))
    (goto-char (hive-list--position "p2"))
    (should (equal '(hive-question "builder: Launch?") (hive-integrations-test-target)))))

(defun hive-integrations-test-target ()
  "Return the target at point, a type and a line."
  (let ((target (hive-integrations--embark-target)))
    (list (car target) (substring-no-properties (cadr target)))))

(ert-deftest hive-motions-in-shared-buffers-repeat ()
  (dolist (command '(hive-shared-next-mention hive-shared-previous-mention hive-shared-page-back))
    (should (eq 'hive-shared-repeat-map (get command 'repeat-map))))
  (should (keymapp hive-shared-repeat-map)))

(ert-deftest hive-project-list-shows-the-questions-of-the-project-of-this-buffer ()
  (hive-integrations-test
    (let* ((folder (expand-file-name "rocket/" hive-test-temp)) (default-directory folder))
      (make-directory (expand-file-name ".git" folder) t)
      (cl-letf (((symbol-function 'project-current) (lambda (&rest _) (cons 'transient folder))))
        (with-temp-buffer
          (setq default-directory folder)
          (hive-project-list)))
      (with-current-buffer "*hive*"
        (should (equal '("p2") (mapcar (lambda (prompt) (plist-get prompt :ask_id)) hive-list--shown)))))))

(ert-deftest hive-each-list-of-hive-has-its-own-keys-in-evil ()
  (let ((modes nil))
    (mapatoms (lambda (symbol)
                (when (and (string-match-p "\\`hive-[a-z-]+-mode\\'" (symbol-name symbol))
                           (provided-mode-derived-p symbol 'special-mode))
                  (push symbol modes))))
    (should (memq 'hive-rules-mode modes))
    (should-not (cl-set-difference modes hive-integrations--motion))))

;;;; Where the count is shown

(ert-deftest hive-the-indicator-is-in-the-mode-line-the-tab-bar-or-the-header-line ()
  (let ((hive-mode-line-text " hive 3"))
    (unwind-protect
        (cl-flet ((places ()
                    (list (and (member '(:eval hive-mode-line-text) (default-value 'global-mode-string)) 'mode-line)
                          (and (boundp 'tab-bar-format) (memq 'hive-mode-line-tab-bar tab-bar-format) 'tab-bar)
                          (and (default-value 'header-line-format) 'header-line))))
          (let ((hive-mode t))
            (dolist (place '(mode-line tab-bar header-line nil))
              (customize-set-variable 'hive-indicator place)
              (should (equal (and place (list place)) (delq nil (places))))))
          (should (equal " hive 3" (nth 2 (car (hive-mode-line-tab-bar))))))
      (hive-mode-line-remove)
      (custom-reevaluate-setting 'hive-indicator))))
